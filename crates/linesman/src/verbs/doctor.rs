use linesman_engine::transaction::Settings;

use crate::cli::Format;
use crate::exit::Exit;

pub async fn run(_: Format, _: &Settings) -> Exit {
    Exit::Failed
}
