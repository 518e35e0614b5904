// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/recorder"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/text"
)

// firstRecordRetry and lastRecordRetry bound the pause before a recording connects again.
const firstRecordRetry, lastRecordRetry = 100 * time.Millisecond, 2 * time.Second

// recording is the flag --record, and the recording while a command looks at an environment.
type recording struct {
	path string
	file *sessionFile
	// troubles gets why the recording has ended before the command, for the user; at most one line.
	troubles chan string
	// mode and out are where it is printed in place of that, when the command has no screen.
	mode OutputMode
	out  io.Writer
	// synced is called when the state of the environment is recorded; nil for no one.
	synced    func()
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

// prints has the end of the recording before the command printed when it happens, where mode has no screen for it.
func (r *recording) prints(mode OutputMode, out io.Writer) { r.mode, r.out = mode, out }

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
			r.report()
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
			Synced: r.synced, Clock: clock.System{}})
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
		case r.lost == nil, r.session.Err() != nil: // the first connection, or a file that takes no more
			return err
		}
		if err := r.look(w); err != nil || !errors.Is(r.lost, recorder.ErrLost) {
			return err
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

// errKilled is why the connection to an environment is lost whose process was killed.
var errKilled = errors.New("the process of the environment was killed")

// look finds why a connection that was lost is, and records that: nothing is missing when the environment has ended in
// order. What was missed of a process that was killed stays missing when its environment is removed.
func (r *recording) look(w *workspace.Workspace) error {
	if !errors.Is(r.lost, errKilled) {
		switch err := checkRunning(w); {
		case errors.Is(err, app.ErrEnvironmentStopped):
			r.lost = errKilled
		case errors.Is(err, app.ErrEnvironmentGone), endsInOrder(w):
			r.lost = nil
		}
	}
	if r.lost == nil {
		return nil
	}
	return r.session.Lost(r.lost.Error(), errors.Is(r.lost, errKilled))
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
	if r == nil || r.ended == nil {
		return
	}
	r.stop()
	r.running.Wait()
	if r.trouble == nil { // a process that was killed may have ended the command before the recording saw that
		r.trouble = r.look(r.workspace)
	}
}

// finish ends the recording, and says where it is or what went wrong. It returns the error of the command, which is err
// unless only the recording has failed. Only the first call does anything. A nil recording has nothing to say.
func (r *recording) finish(out io.Writer, err error) error {
	if r == nil || r.file == nil {
		return err
	}
	file := r.file
	defer func() { r.file = nil }()
	if r.ended == nil { // nothing was started
		file.remove(out)
		return err
	}
	r.end()
	missing := ""
	if r.lost != nil {
		missing = r.lost.Error()
	}
	if r.session == nil { // nothing could be written
		file.remove(out)
		return r.failure(out, err)
	}
	r.trouble = errors.Join(r.trouble, r.session.End(missing))
	if _, closeErr := file.close(); closeErr != nil {
		r.trouble = errors.Join(r.trouble, &sessionfile.WriteError{Err: closeErr})
	}
	if r.trouble == nil && missing != "" {
		fmt.Fprintln(out, "pipedeck: the recorded session is not complete:", text.Clean(missing))
	}
	fmt.Fprintln(out, "recorded the session; play it with: pipedeck replay "+text.ShellWord(r.path))
	return r.failure(out, err)
}

// failure is the error of a command with this recording, which would end with err without it. A file that took no more
// is no success; a session that is as long as it may be is one.
func (r *recording) failure(out io.Writer, err error) error {
	if r.trouble == nil {
		return err
	}
	unwritten := (*sessionfile.WriteError)(nil)
	if err == nil && errors.As(r.trouble, &unwritten) {
		return exit.With(exit.Unwritten, errors.New(r.say()), r.nextStep())
	}
	fmt.Fprintln(out, "pipedeck:", r.say())
	return err
}

// say is why the recording has ended before the command.
func (r *recording) say() string {
	if r.session == nil {
		return fmt.Sprintf("the session is not recorded: %v", r.trouble)
	}
	return fmt.Sprintf("the recording has ended: %v; the file has what happened until then", r.trouble)
}

// nextStep is what a user does about that.
func (r *recording) nextStep() string {
	if errors.Is(r.trouble, syscall.ENOSPC) || errors.Is(r.trouble, syscall.EDQUOT) {
		return "free space on that disk, then record the session to another file"
	}
	return "record the session to another file"
}

// report says why the recording has ended, at the time of that.
func (r *recording) report() {
	now := time.Now()
	switch r.mode {
	case outputJSON:
		// Output that cannot be written ends the command elsewhere, also below.
		_ = reader.OwnProblem(r.out, now, &deckv1.Problem{Id: recordingPart, Part: recordingPart, Reason: r.say(),
			NextStep: r.nextStep(), Since: timestamppb.New(now)})
	case outputReader:
		said := r.say()
		fmt.Fprintf(r.out, "%s%s. Next step: %s.\n", strings.ToUpper(said[:1]), text.Line(said[1:]), r.nextStep())
	case outputPlain:
		fmt.Fprintln(r.out, r.mode.line(now, fmt.Sprintf("%-11s  %s  %s  %s  -> %s", "problem", recordingPart,
			document.ProblemPresent, text.Line(r.say()), r.nextStep())))
	default:
		r.troubles <- r.say()
	}
}

// recordingPart is what the output calls a recording.
const recordingPart = "recording"
