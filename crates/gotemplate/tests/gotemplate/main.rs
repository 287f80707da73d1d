//! Tests of templates as their users call them. One program, because each one is linked with all dependencies.

#[cfg(test)]
mod reads;
#[cfg(test)]
mod robustness;
#[cfg(test)]
mod taint;
