use std::{time::Duration,sync::Arc};
#[derive(Clone,Debug)] pub struct Probe; impl std::str::FromStr for Probe{type Err=String; fn from_str(_:&str)->Result<Self,String>{Ok(Probe)}}
#[derive(Clone,Debug,PartialEq,serde::Serialize,serde::Deserialize)] pub struct Report;
impl std::fmt::Display for Report { fn fmt(&self, f:&mut std::fmt::Formatter<'_>)->std::fmt::Result{write!(f,"r")}}
pub enum Verdict{Pass,Fail{reason:String}}
pub async fn run_once(_:&[Probe])->Vec<Report>{vec![]}
pub async fn wait_until_pass(_:&[Probe],_:Duration,_:Arc<tokio::sync::Notify>)->Vec<Report>{vec![]}
pub fn default_probes()->Vec<Probe>{vec![]}
pub fn required(p:&[Probe],_:&[Report])->Vec<Probe>{p.to_vec()}
pub fn judge(_:&[Report],_:&[Report])->Verdict{Verdict::Pass}
