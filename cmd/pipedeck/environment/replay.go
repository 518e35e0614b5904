// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/share"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newReplayCommand() *cobra.Command {
	look := &look{}
	var output string
	var from time.Duration
	var paused bool
	cmd := &cobra.Command{
		Use: "replay FILE", Short: "Play a recorded session", Args: cobra.ExactArgs(1),
		Long: `Play a session that up, ci or attach has recorded with --record, or that export has written.
The terminal UI shows the environment as it was, and nothing can be changed.

The space bar plays and pauses, ] and [ go to the next event and to the one before, . and , go 10 s
forward and back, > and < play faster and slower. Without a terminal, everything that happened is
printed at once; with --serve-web it is played for those who watch, until Ctrl-C.

A file of which the end is missing or damaged is played as far as it goes.`,
		Example: `  pipedeck replay session.pipedeck
  pipedeck replay session.pipedeck --from 2m --paused
  pipedeck replay session.pipedeck --serve-web
  pipedeck replay session.pipedeck --output json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			mode, err := ChooseOutput(output, true)
			if err != nil {
				return err
			}
			if from < 0 {
				return exit.Usage(fmt.Errorf("--from %v is before the beginning of the session", from), "correct it")
			}
			if err := look.read(mode); err != nil {
				return err
			}
			recorded, err := openSession(args[0])
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			film := player.New(recorded, clock.System{})
			film.Skip(from)
			if paused {
				film.Toggle()
			}
			if mode != outputTUI && look.sharing.Asked() {
				return finish(mode, cmd.OutOrStdout(), exit.Explain(ctx, look.show(ctx, film, recorded, mode,
					cmd.OutOrStdout(), cmd.ErrOrStderr())))
			}
			if mode != outputTUI {
				return finish(mode, cmd.OutOrStdout(), exit.Explain(ctx, transcribe(ctx, recorded, mode,
					cmd.OutOrStdout(), cmd.ErrOrStderr())))
			}
			return exit.Explain(ctx, look.play(ctx, film, recorded))
		},
	}
	look.register(cmd)
	cmd.Flags().StringVar(&output, "output", "auto", outputHelp)
	cmd.Flags().DurationVar(&from, "from", 0, "begin at this time of the session")
	cmd.Flags().BoolVar(&paused, "paused", false, "begin paused")
	return cmd
}

// openSession reads the file of a session.
func openSession(path string) (*sessionfile.Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, exit.Usage(err, "name a file that up, ci or attach has recorded with --record, or that export has "+
			"written")
	}
	defer f.Close()
	recorded, err := sessionfile.Read(f, 0)
	if newer := (*sessionfile.NewerError)(nil); errors.As(err, &newer) {
		return nil, exit.Usage(fmt.Errorf("%s %w", path, err),
			"replay it with pipedeck "+newer.Version+" or a newer one")
	}
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("%s %w", path, err),
			"name a file that up, ci or attach has recorded with --record, or that export has written")
	}
	return recorded, nil
}

// transcribe prints everything that happened in a session.
func transcribe(ctx context.Context, recorded *sessionfile.Session, mode OutputMode, out, warn io.Writer) error {
	deck, stop, err := serveSession(player.NewTranscript(recorded))
	if err != nil {
		return err
	}
	defer stop()
	warnIncomplete(recorded, warn)
	if err = follow(ctx, deck, mode, out, reader.Options{ReadOnly: true}); errors.Is(err, reader.ErrEnded) {
		return nil
	}
	return err
}

// warnIncomplete says why a session is not complete.
func warnIncomplete(recorded *sessionfile.Session, warn io.Writer) {
	if recorded.Missing != "" {
		fmt.Fprintf(warn, "pipedeck: the session is not complete: %s\n", text.Clean(recorded.Missing))
	}
}

// show plays a session for others who watch, and prints what happens, until ctx ends.
func (l *look) show(ctx context.Context, film *player.Player, recorded *sessionfile.Session, mode OutputMode,
	out, warn io.Writer) error {
	deck, stop, err := serveSession(player.NewServer(film))
	if err != nil {
		return err
	}
	defer stop()
	warnIncomplete(recorded, warn)
	if err := l.shareSession(ctx, deck, film, recorded); err != nil {
		return err
	}
	defer l.shared.Close()
	if err := l.announce(mode, out); err != nil {
		return err
	}
	var playing sync.WaitGroup
	defer playing.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	playing.Go(func() { film.Run(ctx) })
	return follow(ctx, deck, mode, out, reader.Options{ReadOnly: true})
}

// play shows a session until the user leaves.
func (l *look) play(ctx context.Context, film *player.Player, recorded *sessionfile.Session) error {
	deck, stop, err := serveSession(player.NewServer(film))
	if err != nil {
		return err
	}
	defer stop()
	var playing sync.WaitGroup
	defer playing.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	playing.Go(func() { film.Run(ctx) })
	if err := l.shareSession(ctx, deck, film, recorded); err != nil {
		return err
	}
	defer l.shared.Close()
	began := recorded.Header.GetBeganAt().AsTime().Local()
	outcome, err := app.Run(ctx, app.Config{
		Client:  func(context.Context) (deckv1.DeckServiceClient, error) { return deck, nil },
		Name:    recorded.Header.GetEnvironment() + ", recorded " + began.Format("2006-01-02 15:04"),
		Version: version.Build(), Keys: l.keys, Environ: l.environ,
		ReadOnly: "this is a recorded session", Playback: share.Playback{Player: film, Missing: recorded.Missing},
		Share: l.shared.UI(),
	})
	if err == nil && outcome == app.Interrupted {
		return exit.Silent(exit.Interrupted)
	}
	return err
}
