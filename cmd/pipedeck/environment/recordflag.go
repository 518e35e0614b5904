// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/recorder"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/text"
)

// firstRecordRetry and lastRecordRetry bound the pause before a recording connects again.
const firstRecordRetry, lastRecordRetry = 100 * time.Millisecond, 2 * time.Second

// recording is the flag --record, and the recording while a command looks at an environment.
type recording struct {
	path string
	file *sessionFile
	// troubles gets why the recording has ended before the command, for the user; at most one line.
	troubles  chan string
	workspace *workspace.Workspace
	// running is the goroutine that records; the rest is its own until running has ended.
	running sync.WaitGroup
	// ctx is that of running; stop ends it. Both are nil before the first begin.
	ctx  context.Context
	stop context.CancelFunc
	// ended is closed at the end of running.
	ended   chan struct{}
	session *recorder.Session
	trouble error
	// lost is why the connection to the environment is lost; nil once it is recorded again, or has ended in order.
	lost error
}

func (r *recording) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.path, "record", "", "record the session to `FILE`; see pipedeck replay")
}

// create creates the file, before anything is started.
func (r *recording) create() (err error) {
	r.troubles = make(chan string, 1)
	if r.path != "" {
		r.file, err = createSession(r.path)
	}
	return err
}

// begin records the environment over a separate connection until ctx, the environment or the command ends. While it is
// recorded, another call does nothing; after that, the file goes on. A nil recording records nothing.
func (r *recording) begin(ctx context.Context, w *workspace.Workspace) {
	if r == nil || r.file == nil {
		return
	}
	if r.ended != nil {
		if r.ctx.Err() == nil && !r.over() {
			return
		}
		r.running.Wait()
		if r.trouble != nil {
			return
		}
	}
	r.workspace = w
	r.ctx, r.stop = context.WithCancel(ctx)
	ended := make(chan struct{})
	r.ended = ended
	r.running.Go(func() {
		defer close(ended)
		if err := r.run(r.ctx, w); err != nil {
			r.trouble = err
			r.troubles <- r.say()
		}
	})
}

// over reports whether nothing is recorded any more.
func (r *recording) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// run records the environment, again after each loss of the connection, until ctx ends or the process of the
// environment is gone.
func (r *recording) run(ctx context.Context, w *workspace.Workspace) (err error) {
	if r.session == nil {
		r.session, err = recorder.Begin(r.file.file, recorder.Options{Environment: w.Name, Version: version.Build(),
			Clock: clock.System{}})
		if err != nil {
			return err
		}
	}
	for pauses := clock.NewBackoff(firstRecordRetry, lastRecordRetry); ; {
		deck, conn, err := session.Dial(ctx, w)
		if err == nil {
			err = errors.Join(r.session.Follow(ctx, deck), conn.Close())
		}
		if errors.Is(err, recorder.ErrLost) && endsInOrder(w) {
			err = nil
		}
		if err == nil && r.awaitNext(ctx, w) {
			continue
		}
		switch {
		case errors.Is(err, recorder.ErrLost):
			r.lost = recorder.ErrLost
		case err == nil:
			r.lost = nil
			return nil
		case ctx.Err() != nil:
			return nil
		case r.lost == nil: // the first connection, or a file that takes no more
			return err
		}
		if r.look(w); !errors.Is(r.lost, recorder.ErrLost) {
			return nil
		}
		if pauses.Wait(ctx, clock.System{}) != nil {
			return nil
		}
	}
}

// awaitNext waits for the process that takes the place of one which has ended for it; false when there is none.
func (r *recording) awaitNext(ctx context.Context, w *workspace.Workspace) bool {
	replaced := checkReplaced(w) != nil
	for pauses := clock.NewBackoff(firstRecordRetry, lastRecordRetry); checkReplaced(w) != nil; {
		if pauses.Wait(ctx, clock.System{}) != nil {
			return false
		}
	}
	return replaced && ctx.Err() == nil && checkRunning(w) == nil
}

// look finds why a connection that was lost is: nothing is missing when the environment has ended in order.
func (r *recording) look(w *workspace.Workspace) {
	switch err := checkRunning(w); {
	case errors.Is(err, app.ErrEnvironmentGone):
		r.lost = nil
	case errors.Is(err, app.ErrEnvironmentStopped):
		r.lost = errors.New("the process of the environment was killed")
	}
}

// news are what happens to the recording.
func (r *recording) news() <-chan string {
	if r == nil {
		return nil
	}
	return r.troubles
}

// end ends the recording before finish, so that it has nothing of what comes after.
func (r *recording) end() {
	if r != nil && r.ended != nil {
		r.stop()
		r.running.Wait()
	}
}

// finish ends the recording, and says where it is or what went wrong.
func (r *recording) finish(out io.Writer) {
	if r == nil || r.file == nil {
		return
	}
	if r.ended == nil { // nothing was started
		if err := r.file.discard(); err != nil {
			fmt.Fprintln(out, "pipedeck:", err)
		}
		return
	}
	r.end()
	missing := ""
	if r.lost != nil {
		r.look(r.workspace)
	}
	if r.lost != nil {
		missing = r.lost.Error()
	}
	if r.session != nil {
		r.trouble = errors.Join(r.trouble, r.session.End(missing))
	}
	if _, err := r.file.close(); err != nil {
		r.trouble = errors.Join(r.trouble, err)
	}
	if r.trouble != nil {
		fmt.Fprintln(out, "pipedeck:", r.say())
	} else if missing != "" {
		fmt.Fprintln(out, "pipedeck: the recorded session is not complete:", text.Clean(missing))
	}
	fmt.Fprintln(out, "recorded the session; play it with: pipedeck replay "+text.ShellWord(r.path))
}

// say is why the recording has ended before the command.
func (r *recording) say() string {
	return fmt.Sprintf("the recording has ended: %v; the file has what happened until then", r.trouble)
}
