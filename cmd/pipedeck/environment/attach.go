// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/page"
)

func newAttachCommand(t *session.Target) *cobra.Command {
	var output string
	look := &look{recording: &recording{}}
	cmd := &cobra.Command{
		Use: "attach", Short: "Open another UI on a running environment", Args: cobra.NoArgs,
		Example: "  pipedeck attach\n  pipedeck attach --read-only\n  pipedeck attach --output json\n" +
			"  pipedeck attach --record session.pipedeck\n" +
			"  pipedeck attach --serve-web --output plain",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			mode, err := ChooseOutput(output, true)
			if err != nil {
				return err
			}
			if err := look.read(mode); err != nil {
				return err
			}
			w, err := t.Workspace()
			if err != nil {
				return err
			}
			_, conn, err := t.Connect(cmd.Context())
			if err != nil {
				return err
			}
			if err := conn.Close(); err != nil {
				return err
			}
			if err := look.recording.create(); err != nil {
				return err
			}
			look.recording.prints(mode, cmd.OutOrStdout())
			defer func() { err = look.recording.finish(cmd.ErrOrStderr(), err) }()
			if err := look.shareEnvironment(cmd.Context(), w, page.ModeLive); err != nil {
				return err
			}
			defer look.shared.Close()
			if mode == outputTUI {
				return exit.Explain(cmd.Context(), look.watch(cmd.Context(), w, nil, true))
			}
			out := cmd.OutOrStdout()
			if err := look.announce(mode, out); err != nil {
				return err
			}
			err = exit.Explain(cmd.Context(), look.attachReader(cmd.Context(), w, mode, out))
			return finish(mode, out, look.recording.finish(cmd.ErrOrStderr(), err))
		},
	}
	cmd.Flags().StringVar(&output, "output", "auto", outputHelp)
	look.register(cmd)
	look.recording.register(cmd)
	cmd.Flags().BoolVar(&look.readOnly, "read-only", false, "only look: the UI changes nothing")
	return cmd
}

// startAgain starts a host in place of the one that was killed. It returns nil when another process was faster.
func startAgain(w *workspace.Workspace) (*host, error) {
	if alive, err := w.Alive(); err != nil || alive {
		return nil, err
	}
	last, err := w.Published()
	if err == nil && last.Restart == nil {
		err = errors.New("it is not known how it was started")
	}
	if err != nil {
		return nil, exit.With(exit.NotStarted, fmt.Errorf("start environment %q again: %w", w.Name, err),
			"start it with: "+session.StartCommand(w))
	}
	return startHost(w, last.Restart)
}

// watch shows an environment until the user leaves, and starts it again when the user asks for that after its process
// was killed. h is the host that this process started, or nil for an environment that runs already.
func (l *look) watch(ctx context.Context, w *workspace.Workspace, h *host, keep bool) error {
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	connection := &connection{workspace: w, recording: l.recording}
	defer connection.close()
	begin := func(h *host) {
		connection.use(h)
		// A host that ends by an error takes the screen down with it; its error is shown after.
		watching.Go(func() {
			select {
			case <-h.ended:
				if err := h.failure(); err != nil {
					stop(err)
				}
			case <-ctx.Done():
			}
		})
	}
	if h != nil {
		begin(h)
	}
	settings := l.config(w, connection)
	settings.Start = func(ctx context.Context) error {
		next, err := startAgain(w)
		if err != nil || next == nil {
			return err
		}
		begin(next)
		select {
		case <-next.listening:
		case <-ctx.Done():
		}
		return nil
	}
	outcome, err := app.Run(ctx, settings)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if err != nil {
		return keepPanic(w, err)
	}
	if err := connection.awaitHost(ctx, outcome); err != nil {
		return err
	}
	return leave(ctx, w, outcome, keep)
}

// config is what the UI of an environment needs.
func (l *look) config(w *workspace.Workspace, c *connection) app.Config {
	return app.Config{
		Client: c.client, ReadOnly: l.refusal(), Notices: app.Notices{News: l.recording.news(), Of: l.warnings},
		Name:    w.Name,
		Version: version.Build(), Commander: session.Commander(), Keys: l.keys, Flags: session.Flags(w),
		Files:     app.Files{Copy: w.Path("copy.txt"), Cards: w.Path("cards.txt")},
		Manifests: manifests{}, Environ: l.environ,
		Program: app.Program{Command: commandRunner(w)}, Share: l.shared.UI(),
	}
}

// keepPanic writes where the UI broke into the environment's logs: the screen has no room for it.
func keepPanic(w *workspace.Workspace, err error) error {
	panicked := (*app.PanicError)(nil)
	if !errors.As(err, &panicked) {
		return err
	}
	file := w.Path("logs", "ui-panic.log")
	if writeErr := workspace.WriteFile(file, panicked.Stack); writeErr != nil {
		return errors.Join(err, writeErr)
	}
	return exit.With(exit.Failed, err, "the environment goes on; please report "+file+
		", and look again with: pipedeck attach"+session.Flags(w))
}

func leave(ctx context.Context, w *workspace.Workspace, outcome app.Outcome, keep bool) error {
	switch {
	case outcome == app.EnvironmentGone:
		fmt.Printf("environment %q has ended\n", w.Name)
		return nil
	case outcome == app.TearDown || !keep:
		return tearDown(context.WithoutCancel(ctx), w, os.Stdout)
	}
	if err := checkRunning(w); err != nil && !errors.Is(err, errReplaced) {
		return err
	}
	fmt.Printf("environment %q goes on running\n  look again:        pipedeck attach%s\n"+
		"  stop and remove:   pipedeck down%s\n", w.Name, session.Flags(w), session.Flags(w))
	if outcome == app.Interrupted {
		return exit.Silent(exit.Interrupted)
	}
	return nil
}

// connection gives the UI a client, again after each loss.
type connection struct {
	workspace *workspace.Workspace
	conn      *grpc.ClientConn
	recording *recording
	// connected is called when there is a client; nil for nothing to do.
	connected func()

	mu   sync.Mutex
	host *host
}

// use has clients wait for a host that this process has started.
func (c *connection) use(h *host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host = h
}

// started is the host that this process has started last; nil for none.
func (c *connection) started() *host {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host
}

// awaitHost waits for the end of that host when the environment has gone: its last call ends before the host does,
// which alone knows whether it went well.
func (c *connection) awaitHost(ctx context.Context, outcome app.Outcome) error {
	h := c.started()
	if h == nil || outcome != app.EnvironmentGone {
		return nil
	}
	select {
	case <-h.ended:
		return h.failure()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *connection) client(ctx context.Context) (deckv1.DeckServiceClient, error) {
	c.close()
	if h := c.started(); h != nil {
		select {
		case <-h.listening: // or it is gone, which is seen below
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if err := checkRunning(c.workspace); err != nil {
		return nil, err
	}
	deck, conn, err := session.Dial(ctx, c.workspace)
	c.conn = conn
	if err == nil {
		c.recording.begin(ctx, c.workspace)
	}
	if err == nil && c.connected != nil {
		c.connected()
	}
	return deck, err
}

// checkRunning returns an error when no process holds the environment's lock: app.ErrEnvironmentStopped when the
// process was killed, app.ErrEnvironmentGone when it has ended in order. It is errReplaced while the process ends for
// another one, and until that one is there.
func checkRunning(w *workspace.Workspace) error {
	if err := checkReplaced(w); err != nil {
		return err
	}
	alive, err := w.Alive()
	if err != nil || alive {
		return err
	}
	// A process that ends in order withdraws what it has published.
	last, err := w.Published()
	if err != nil {
		return fmt.Errorf("environment %q has ended: %w", w.Name, app.ErrEnvironmentGone)
	}
	return exit.With(
		exit.NotStarted, fmt.Errorf("environment %q has ended: its process %d was killed: %w", w.Name, last.PID,
			app.ErrEnvironmentStopped),
		"start it again with: "+session.StartCommand(w),
	)
}

func (c *connection) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}
