// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// calls notes the methods that a client calls.
type calls struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (c *calls) note(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[method[strings.LastIndex(method, "/")+1:]] = true
}

func (c *calls) all() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// connect returns a client of a server whose calls are noted.
func (c *calls) connect(t *testing.T, address string) deckv1.DeckServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
			invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
			c.note(method)
			return invoke(ctx, method, request, reply, conn, options...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn,
			method string, stream grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
			c.note(method)
			return stream(ctx, desc, conn, method, options...)
		}))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return deckv1.NewDeckServiceClient(conn)
}

// Each key of the UI, also those that a watcher does not have, in each pane: the environment gets only calls that read,
// no program of this machine runs, and no file is written.
func TestNoKeyOfAWatcherChangesAnything(t *testing.T) {
	home, marks := t.TempDir(), t.TempDir()
	t.Chdir(home)
	for _, program := range []string{"kubectl", "xdg-open", "open", "editor", "shell"} {
		script := "#!/bin/sh\necho \"$@\" >" + filepath.Join(marks, program) + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(marks, program+".sh"), []byte(script), 0o700))
		require.NoError(t, os.Rename(filepath.Join(marks, program+".sh"), filepath.Join(marks, program+".program")))
		require.NoError(t, os.MkdirAll(filepath.Join(marks, "bin"), 0o700))
		require.NoError(t, os.Symlink(filepath.Join(marks, program+".program"), filepath.Join(marks, "bin", program)))
	}
	t.Setenv("PATH", filepath.Join(marks, "bin"))
	t.Setenv("EDITOR", "editor")
	t.Setenv("SHELL", "shell")
	t.Setenv("DISPLAY", ":0")
	t.Setenv("HOME", home)
	before := files(t, marks)

	heard := &calls{seen: map[string]bool{}}
	var s *stage
	s = open(t, func(o *Options) {
		var once sync.Once
		var client deckv1.DeckServiceClient
		o.Connect = func(context.Context) (deckv1.DeckServiceClient, func(), error) {
			once.Do(func() { client = heard.connect(t, s.deck.Address()) })
			return client, func() {}, nil
		}
	})
	w := s.watch(t, 160, 48)
	w.seesText("WAIT_APPROVAL")
	var keys []string
	for _, b := range slices.Concat(keymap.Default(), keymap.Map{}.Playback(), keymap.Map{}.Guided()) {
		for _, name := range b.Keys {
			code, known := sent[name]
			if !known {
				require.Len(t, name, 1, "the test does not know how a terminal sends %s", name)
				code = name
			}
			if name != "q" && name != "ctrl+c" && !slices.Contains(keys, code) { // which leave
				keys = append(keys, code)
			}
		}
	}
	for _, pane := range []string{"1", "2", "3", "4", "e", "d", "t", "i", "I"} {
		for _, key := range keys {
			w.types(key + "\x1b[27u\x1b[27u" + pane)
		}
	}
	w.types("\x1a\x1b[27u2") // ctrl+z
	w.opensHelp(t)
	require.NotContains(t, w.current(), "roll back")
	w.types("\x1b[27u")
	w.types("q")
	w.leaves()
	require.Subset(t, []string{"Watch", "WatchStageLog", "GetStageRun", "WatchResources", "GetInsights"}, heard.all())
	require.Contains(t, heard.all(), "GetInsights", "the keys have arrived")
	require.Equal(t, before, files(t, marks), "a program has run")
	require.Empty(t, files(t, home))
}

// opensHelp opens the help from wherever the keys before have led. A sequence that a slow machine reads in two parts is
// taken for other keys, which may open something; then it tries again.
func (w *watcher) opensHelp(t *testing.T) {
	t.Helper()
	for range 60 {
		w.types("\x1b[27u\x1b[27u2?")
		if w.seesWithin(time.Second, func(screen string) bool {
			return strings.Contains(screen, "find and run an action")
		}) {
			return
		}
	}
	t.Fatalf("the help does not open:\n%s", w.current())
}

// sent is what a terminal sends for keys with a name.
var sent = map[string]string{
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
	"pgup": "\x1b[5~", "pgdown": "\x1b[6~", "tab": "\t", "shift+tab": "\x1b[Z", "enter": "\r", "esc": "\x1b[27u",
	"space": " ", "backspace": "\x7f", "ctrl+c": "\x03", "ctrl+d": "\x04", "ctrl+l": "\x0c", "ctrl+p": "\x10",
	"ctrl+u": "\x15", "ctrl+w": "\x17", "ctrl+y": "\x19",
}

// files are the names below a folder.
func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if path != folder {
			names = append(names, path)
		}
		return err
	}))
	return names
}

// A call of the deck API that is not for watchers goes nowhere, also when the UI has a mistake.
func TestTheClientOfAWatcherOnlyReads(t *testing.T) {
	t.Parallel()
	client := reading(nil, nil)
	_, err := client.Shutdown(t.Context(), &deckv1.ShutdownRequest{})
	require.ErrorIs(t, err, errOnlyReads)
	_, err = client.ApproveStage(t.Context(), &deckv1.ApproveStageRequest{})
	require.ErrorIs(t, err, errOnlyReads)
	_, err = client.PreviewBranch(t.Context(), &deckv1.PreviewBranchRequest{})
	require.ErrorIs(t, err, errOnlyReads)
}

// What is only for the user of this machine is not sent to watchers.
func TestWatchersDoNotSeeThisMachine(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	w := s.watch(t, 160, 48)
	w.seesText("WAIT_APPROVAL", "4 plugins")
	w.types("e")
	w.seesText("Preflight", "embedded")
	require.NotContains(t, w.current(), "kubeconfig")
	w.types("4")
	w.seesText("waitapproval", "20120")
	for _, hidden := range []string{"listening on", "kubeconfig", "state/pipedeck/default/cards"} {
		require.NotContains(t, w.current(), hidden)
	}
}
