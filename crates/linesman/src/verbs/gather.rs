use linesman_engine::transaction::Settings;

use crate::cli::GatherArgs;
use crate::exit::Exit;

pub async fn run(_: GatherArgs, _: &Settings) -> Exit {
    Exit::Failed
}
