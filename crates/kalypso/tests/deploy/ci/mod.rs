//! The workflows of `deploy/ci`: their structure is compared with the published schemas, and the scripts of all steps are run.

mod application;
mod azure;
mod github;
mod gitlab;
mod pages;
mod promotion;
mod rules;
mod runner;
mod schemas;
mod site;
