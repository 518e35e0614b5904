// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/exhaustion"
	"github.com/pipedeck/pipedeck/system/filewatch"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/text"
)

// pluginLog prints the file in which piped keeps a plugin's output.
func pluginLog(cmd *cobra.Command, t *session.Target, plugin string, follow bool,
	lines func(plugin string) io.Writer) error {
	ctx := cmd.Context()
	w, err := t.Workspace()
	if err != nil {
		return err
	}
	if filepath.Base(plugin) != plugin {
		return exit.Usage(fmt.Errorf("%q is not the name of a plugin", plugin), "see pipedeck plugins")
	}
	if plugin, err = writtenLog(w.PluginLogsDir(), plugin, session.Flags(w)); err != nil {
		return err
	}
	out := lines(plugin)
	path := filepath.Join(w.PluginLogsDir(), plugin+".log")
	file, err := os.Open(path)
	if err != nil {
		return withoutLog(cmd, t, w, plugin)
	}
	defer file.Close()
	log := bufio.NewReader(file)
	if !follow {
		return errors.Join(printLines(out, log), flush(out))
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	ended := endOf(watching, t)
	watcher := filewatch.New(filewatch.Options{Most: 1})
	defer watcher.Close()
	if err := watcher.Add(path); err != nil {
		return exit.With(exit.NotStarted, err, exhaustion.WatchAdvice(err))
	}
	for over := error(nil); ; {
		if err := printLines(out, log); err != nil {
			return err
		}
		if err := printRotated(out, file, log); err != nil {
			return err
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case over != nil:
			return over
		}
		select {
		case <-watcher.Events():
		case <-watcher.Lost():
		case over = <-ended: // the plugin's last words may have come since
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// endOf returns a channel that gets an error when the environment has ended or cannot be reached, unless ctx ends
// before.
func endOf(ctx context.Context, t *session.Target) <-chan error {
	ended := make(chan error, 1)
	go func() {
		deck, conn, err := t.Connect(ctx)
		if err != nil {
			ended <- err
			return
		}
		defer conn.Close()
		// Nothing but the end of the stream counts.
		err = reader.Follow(ctx, deck, reader.Options{WithoutLogs: true}, func(reader.Change) error { return nil })
		if errors.Is(err, reader.ErrEnded) {
			err = t.Ended()
		}
		ended <- err
	}()
	return ended
}

// withoutLog says why a plugin has no log: there is no such plugin, or it has written nothing.
func withoutLog(cmd *cobra.Command, t *session.Target, w *workspace.Workspace, plugin string) error {
	written := writingPlugins(w.PluginLogsDir())
	if alive, err := w.Alive(); err == nil && !alive && len(written) > 0 {
		return exit.Usage(fmt.Errorf("environment %q has no log of a plugin %q", w.Name, plugin),
			session.Choices("plugin", written))
	}
	// When no environment is running, this says so.
	return t.RunLong(cmd, func(_ context.Context, s *session.Session) error {
		return silentPlugin(s.State, plugin, written)
	})
}

// silentPlugin is the error about a plugin that has written nothing; written are those that have.
func silentPlugin(s *session.State, plugin string, written []string) error {
	var names []string
	for _, p := range s.Plugins() {
		names = append(names, p.GetName())
	}
	if !slices.Contains(names, plugin) {
		hint := session.Choices("plugin", names)
		if near := resolve.Nearest(plugin, names); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
		}
		return exit.Usage(fmt.Errorf("there is no plugin %q", plugin), hint)
	}
	return exit.Usage(fmt.Errorf("plugin %q has written nothing", plugin), session.Choices("plugin", written))
}

// printRotated prints what a log has got since it was read to its end, when it was rotated meanwhile: owned.Log empties
// the file after it has copied the lines.
func printRotated(out io.Writer, file *os.File, lines *bufio.Reader) error {
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err != nil || info.Size() >= at {
		return err
	}
	if before, err := os.Open(file.Name() + ".1"); err == nil {
		defer before.Close()
		info, err := before.Stat()
		if err != nil {
			return err
		}
		if err := printLines(out, bufio.NewReader(io.NewSectionReader(before, at,
			max(0, info.Size()-at)))); err != nil {
			return err
		}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	lines.Reset(file)
	return printLines(out, lines)
}

// writtenLog returns the plugin whose log a word names; the word itself when it names none. flags name the environment.
func writtenLog(dir, word, flags string) (string, error) {
	found := resolve.Best(writingPlugins(dir), func(name string) int { return resolve.Fit(word, name) })
	switch len(found) {
	case 0:
		return word, nil
	case 1:
		return found[0], nil
	}
	var candidates []resolve.Candidate
	for _, name := range found {
		candidates = append(candidates, resolve.Candidate{Command: "pipedeck logs --plugin " + name + flags})
	}
	return "", exit.Usage(fmt.Errorf("%q fits %d plugins", word, len(found)),
		resolve.OneOf(candidates, "see pipedeck plugins"))
}

// writingPlugins names those that have written something.
func writingPlugins(dir string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".log"))
	}
	return names
}

// printLines prints up to the end of what is there. The end may be in the middle of a line.
func printLines(out io.Writer, lines *bufio.Reader) error {
	for {
		line, err := lines.ReadSlice('\n')
		if _, writeErr := io.WriteString(out, text.Clean(string(line))); writeErr != nil {
			return writeErr
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull): // a long line goes on in the next part
			return err
		}
	}
}
