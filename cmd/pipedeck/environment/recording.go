// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/recorder"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/text"
)

// sessionFile is a file that a session is written to.
type sessionFile struct {
	path string
	file *os.File
}

// checkSessionPath refuses standard output: a session is read again after it was written.
func checkSessionPath(path string) error {
	if path != standardOutput {
		return nil
	}
	return exit.Usage(errors.New("a session is written to a file, not to standard output"),
		"name a file; one with this name is ./-")
}

// createSession creates a file for a session that only this user can read. It never replaces one.
func createSession(path string) (*sessionFile, error) {
	if err := checkSessionPath(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, exit.Usage(fmt.Errorf("%s exists already", path), "choose another name, or remove the file")
	case err != nil:
		return nil, exit.Usage(err, "choose a file that can be written")
	}
	return &sessionFile{path, file}, nil
}

// record records an environment until ctx or the environment ends.
func (f *sessionFile) record(ctx context.Context, deck deckv1.DeckServiceClient, name string) error {
	return recorder.Record(ctx, deck, f.file, recorder.Options{Environment: name, Version: version.Build(),
		Clock: clock.System{}})
}

// snapshot records the present state of an environment. missing is why that is not complete; empty when it is.
func (f *sessionFile) snapshot(ctx context.Context, deck deckv1.DeckServiceClient, name, missing string) error {
	return recorder.Record(ctx, deck, f.file, recorder.Options{Environment: name, Version: version.Build(),
		Snapshot: true, Missing: missing, Clock: clock.System{}})
}

// close returns the size of the file in bytes.
func (f *sessionFile) close() (int64, error) {
	info, err := f.file.Stat()
	if err = errors.Join(err, f.file.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// discard removes the file.
func (f *sessionFile) discard() error { return errors.Join(f.file.Close(), os.Remove(f.path)) }

// recording is the flag --record, and the recording while a command looks at an environment.
type recording struct {
	path string
	file *sessionFile
	// troubles gets why the recording has ended before the command, for the user; at most one line.
	troubles chan string
	trouble  error
	running  sync.WaitGroup
	stop     context.CancelFunc
	begun    bool
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

// begin records the environment over a separate connection until finish. Only the first call does; a nil recording
// records nothing.
func (r *recording) begin(ctx context.Context, w *workspace.Workspace) {
	if r == nil || r.file == nil || r.begun {
		return
	}
	r.begun = true
	ctx, r.stop = context.WithCancel(ctx)
	r.running.Go(func() {
		if err := r.run(ctx, w); err != nil {
			r.trouble = err // read after the end of this goroutine
			r.troubles <- r.say()
		}
	})
}

func (r *recording) run(ctx context.Context, w *workspace.Workspace) error {
	deck, conn, err := session.Dial(ctx, w)
	if err != nil {
		return err
	}
	defer conn.Close()
	return r.file.record(ctx, deck, w.Name)
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
	if r != nil && r.begun {
		r.stop()
		r.running.Wait()
	}
}

// finish ends the recording, and says where it is or what went wrong.
func (r *recording) finish(out io.Writer) {
	if r == nil || r.file == nil {
		return
	}
	if !r.begun { // nothing was started
		if err := r.file.discard(); err != nil {
			fmt.Fprintln(out, "pipedeck:", err)
		}
		return
	}
	r.end()
	if _, err := r.file.close(); err != nil {
		r.trouble = errors.Join(r.trouble, err)
	}
	if r.trouble != nil {
		fmt.Fprintln(out, "pipedeck:", r.say())
	}
	fmt.Fprintln(out, "recorded the session; play it with: pipedeck replay "+text.ShellWord(r.path))
}

// say is why the recording has ended before the command.
func (r *recording) say() string {
	return fmt.Sprintf("the recording has ended: %v; the file has what happened until then", r.trouble)
}
