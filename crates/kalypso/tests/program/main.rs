//! The program as people run it: real repositories, real files, exit statuses and words.

mod company;
mod formats;
mod mishaps;
mod objects;
mod publishing;
