// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration/discovery"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// initialization is what a run of init found and did.
type initialization struct{ document.Initialization }

func newInitialization(root string, found *discovery.Result, pipeline discovery.Pipeline) *initialization {
	i := &initialization{document.Initialization{
		Head: document.NewHead(), Repository: root, Applications: []document.InitializedApplication{},
		Existing: append([]string{}, found.Existing...), LeftOut: []document.LeftOutPath{},
		Problems: initializedNotes(found.Problems),
	}}
	for _, s := range found.Skipped {
		i.LeftOut = append(i.LeftOut, document.LeftOutPath{Path: s.Path, Reason: s.Reason})
	}
	for _, a := range found.Applications {
		notes := append(a.Notes, a.Services(pipeline)...)
		if reason := a.Suits(pipeline); reason != "" {
			notes = append(notes, discovery.Problem{File: a.File(), Message: reason + ", so it gets a quick sync"})
		}
		i.Applications = append(i.Applications, document.InitializedApplication{
			File: a.File(), Name: a.Name, Source: a.Source, Reason: a.Why, Notes: initializedNotes(notes),
			Objects: []document.ObjectCount{}, Content: a.Configuration(pipeline),
		})
	}
	return i
}

func initializedNotes(problems []discovery.Problem) []document.InitializationNote {
	notes := []document.InitializationNote{}
	for _, p := range problems {
		notes = append(notes, document.InitializationNote{File: p.File, Line: p.Line, Message: p.Message})
	}
	return notes
}

// write creates the files. It changes none that is there, and follows no symbolic link out of the repository.
func (i *initialization) write() {
	root, err := os.OpenRoot(i.Repository)
	if err == nil {
		defer root.Close()
	}
	for n := range i.Applications {
		a := &i.Applications[n]
		if err == nil {
			a.Error = createFile(root, a.File, a.Content)
			a.Written = a.Error == ""
		} else {
			a.Error = err.Error()
		}
	}
}

// createFile returns why a file could not be created; empty when it was.
func createFile(root *os.Root, name, content string) string {
	file, err := root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return "it exists, and is left as it is"
	}
	if err != nil {
		return err.Error()
	}
	_, err = file.WriteString(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, root.Remove(filepath.FromSlash(name))).Error()
	}
	return ""
}

// print writes the files and their reasons to out, as a patch that Git applies, and all else to report. command does
// the same again.
func (i *initialization) print(out, report io.Writer, command string) error {
	var errs []error
	say := func(w io.Writer, format string, args ...any) {
		_, err := fmt.Fprintf(w, format, args...)
		errs = append(errs, err)
	}
	written := 0
	for _, a := range i.Applications {
		switch {
		case a.Error != "":
			say(report, "%s\n", text.Clean(a.File+": "+a.Error))
		case a.Written:
			say(out, "%s\n", text.Clean(fmt.Sprintf("wrote %s: %s: %s", a.File, a.Name, a.Reason)))
			written++
		default:
			say(out, "%s\n", text.Clean(fmt.Sprintf("%s: %s: %s", a.File, a.Name, a.Reason)))
		}
		if objects := objectsOf(a); objects != "" {
			say(out, "  %s\n", text.Clean(objects))
		}
		for _, note := range a.Notes {
			say(out, "  note: %s\n", text.Clean(note.String()))
		}
		if a.Error == "" && !a.Written {
			say(out, "%s\n", cleanLines(udiff.Unified("/dev/null", "b/"+a.File, "", a.Content)))
		}
	}
	for _, s := range i.LeftOut {
		say(report, "left out: %s\n", text.Clean(s.Path+": "+s.Reason))
	}
	for _, p := range i.Problems {
		say(report, "%s\n", text.Clean(p.String()))
	}
	if i.Unrendered != "" && len(i.Applications) > 0 {
		say(report, "%s\n", text.Clean("not rendered: "+i.Unrendered))
	}
	say(report, "%s\n", text.Clean(i.next(written, command)))
	return errors.Join(errs...)
}

// next is the last line: what to do now.
func (i *initialization) next(written int, command string) string {
	existing := ""
	if len(i.Existing) > 0 {
		existing = line.Count(len(i.Existing), "application configuration") + " exist already; "
		if len(i.Existing) == 1 {
			existing = i.Existing[0] + " exists already; "
		}
	}
	switch {
	case len(i.Applications) == 0:
		return existing + "nothing to write"
	case written > 0:
		return fmt.Sprintf("%swrote %s in %s; review and commit them, then run: pipedeck ci", existing,
			line.Count(written, "file"), i.Repository)
	case i.failed() > 0:
		return existing + "no file was written"
	}
	return fmt.Sprintf("%s%s would be written in %s; to do it, run: %s", existing,
		line.Count(len(i.Applications), "file"), i.Repository, command)
}

// leftOut lists what was left out, for an error.
func (i *initialization) leftOut() string {
	var all strings.Builder
	for n, s := range i.LeftOut {
		if n == 0 {
			all.WriteString("; left out: ")
		} else {
			all.WriteString(", ")
		}
		if n == 5 {
			fmt.Fprintf(&all, "and %d more", len(i.LeftOut)-n)
			break
		}
		all.WriteString(s.Path + " (" + s.Reason + ")")
	}
	return text.Clean(all.String())
}

func (i *initialization) failed() (n int) {
	for _, a := range i.Applications {
		if a.Error != "" {
			n++
		}
	}
	return n
}

func (i *initialization) verdict() error {
	if n := i.failed(); n > 0 {
		return exit.Usage(fmt.Errorf("%s could not be written", line.Count(n, "file")),
			"make room for the files, or move them away, and run it again")
	}
	if n := len(i.Problems); n > 0 {
		return exit.Usage(fmt.Errorf("%s in files that would be deployed", line.Count(n, "mistake")),
			"correct the lines above, or put the files into .gitignore, and run it again")
	}
	return nil
}

// commandLine is the command that writes the files.
func commandLine(args []string, pipeline string) string {
	command := "pipedeck init"
	for _, arg := range args {
		command += " " + text.ShellWord(arg)
	}
	if pipeline != string(discovery.Quick) {
		command += " --pipeline " + pipeline
	}
	return command + " --write"
}
