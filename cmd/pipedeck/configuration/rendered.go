// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/rendering"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

const (
	// renderTimeout bounds how long all applications of a repository may take.
	renderTimeout = 2 * time.Minute
	// renderGrace is for the output of processes that the program leaves behind.
	renderGrace = time.Second
	// maxRendered bounds the answers, in bytes, and maxComplaint what the program says of its failure.
	maxRendered, maxComplaint = 64 << 20, 4 << 10
)

// render asks the program of the bundled kubernetes plugin for the objects of each application: it renders them as a
// deployment would. Without the program, Unrendered says so. The error is that of an interrupted command.
func (i *initialization) render(ctx context.Context) error {
	if len(i.Applications) == 0 {
		return nil
	}
	bin, err := pluginflag.ProgramDir()
	if err != nil {
		return err
	}
	program := filepath.Join(bin, "plugins", "kubernetes")
	request := rendering.Request{Root: i.Repository}
	for _, a := range i.Applications {
		request.Applications = append(request.Applications, rendering.Application{File: a.File, Content: a.Content})
	}
	input, err := json.Marshal(request)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, renderTimeout)
	defer cancel()
	answers, complaint := pluginflag.NewBoundedBuffer(maxRendered), pluginflag.NewBoundedBuffer(maxComplaint)
	cmd := exec.CommandContext(bounded, program, rendering.Argument) //nolint:gosec // a program of this installation
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(input), answers, complaint, renderGrace
	err = cmd.Run()
	i.take(answers)
	switch {
	case ctx.Err() != nil:
		return exit.Silent(exit.Interrupted)
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		i.Unrendered = program + " does not exist; build it with: make build"
	case bounded.Err() != nil:
		i.Unrendered = fmt.Sprintf("it took more than %s", renderTimeout)
	default:
		i.Unrendered = strings.TrimSpace(fmt.Sprintf("%s: %v: %s", program, err, text.Line(complaint.String())))
	}
	return nil
}

// take notes what the program has rendered, which may be a part of what it was asked for.
func (i *initialization) take(answers io.Reader) {
	decoder := json.NewDecoder(answers)
	for n := range i.Applications {
		a := &i.Applications[n]
		var rendered rendering.Rendered
		if decoder.Decode(&rendered) != nil || rendered.File != a.File {
			return
		}
		for _, kind := range rendered.Kinds {
			a.Objects = append(a.Objects, document.ObjectCount{Kind: kind.Kind, Count: kind.Count})
		}
		a.RenderError = text.Line(strings.ReplaceAll(rendered.Error, i.Repository+string(os.PathSeparator), ""))
		if place, written := report.FindPlace(i.Repository, a.RenderError, path.Dir(a.File)); place != nil {
			a.RenderPlace = place.String()
			a.RenderError = strings.Replace(a.RenderError, written, a.RenderPlace, 1)
		}
	}
}

// objectsOf is what was rendered, in one line; empty when nothing was.
func objectsOf(a document.InitializedApplication) string {
	if a.RenderError != "" {
		if a.RenderPlace != "" && !strings.HasPrefix(a.RenderError, a.RenderPlace) {
			return "cannot be rendered: " + a.RenderPlace + ": " + a.RenderError
		}
		return "cannot be rendered: " + a.RenderError
	}
	total := 0
	var parts []string
	for _, o := range a.Objects {
		total += o.Count
		parts = append(parts, fmt.Sprintf("%d %s", o.Count, o.Kind))
	}
	if total == 0 {
		return ""
	}
	return line.Count(total, "object") + ": " + strings.Join(parts, ", ")
}
