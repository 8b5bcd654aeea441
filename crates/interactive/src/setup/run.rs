//! Runs the setup pages on a terminal, before there is a session.

use omp_tui::{Frame, Renderer, Size, Space, Theme};

use super::dialog::SetupDialog;
use super::{Next, Setup, SetupEnd, SetupHost};
use crate::tty::{Tty, TtyEvent};

/// Shows the pages until they are left.
pub async fn run_setup(tty: &mut dyn Tty, theme: &Theme, host: &dyn SetupHost) -> SetupEnd {
    let mut renderer = Renderer::new(tty.profile(), tty.size());
    let mut dialog = SetupDialog::new(Setup::new(host.look().await));
    loop {
        paint(tty, &mut renderer, theme, &dialog);
        let next = match tty.next().await {
            TtyEvent::Input(input) => dialog.input(&input),
            TtyEvent::Resize(size) => {
                renderer.resize(size);
                Next::Show
            }
            TtyEvent::Profile(profile) => {
                renderer.set_profile(profile);
                Next::Show
            }
            TtyEvent::Background(_) => Next::Show,
            TtyEvent::Stop => {
                leave(tty, &mut renderer);
                tty.suspend();
                continue;
            }
            TtyEvent::Continued => {
                renderer.begin_again();
                Next::Show
            }
            TtyEvent::Terminated(_) | TtyEvent::Closed => Next::End(SetupEnd::Left),
        };
        match next {
            Next::Show => {}
            Next::Wish(wish) => dialog.setup.fulfil(wish, host).await,
            Next::End(end) => {
                leave(tty, &mut renderer);
                return end;
            }
        }
    }
}

fn leave(tty: &mut dyn Tty, renderer: &mut Renderer) {
    let mut bytes = Vec::new();
    renderer.end(&mut bytes);
    tty.write(&bytes);
}

fn paint(tty: &mut dyn Tty, renderer: &mut Renderer, theme: &Theme, dialog: &SetupDialog) {
    let Size { width, height } = renderer.size();
    let rows = dialog.draw(&Space { width, height, theme, focused: true, keys: &omp_tui::DefaultKeys });
    let mut bytes = Vec::new();
    renderer.paint(&Frame { rows: &rows, settled: 0, overlay: None }, &mut bytes);
    tty.write(&bytes);
    tty.set_rows_below(renderer.rows_below());
}
