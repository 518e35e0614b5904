// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/rendering"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// render asks the program of the bundled kubernetes plugin for the objects of each application: it renders them as a
// deployment would. Without the program, Unrendered says so. The error is that of an interrupted command.
func (i *initialization) render(ctx context.Context) error {
	if len(i.Applications) == 0 {
		return nil
	}
	request := rendering.Request{Root: i.Repository}
	for _, a := range i.Applications {
		request.Applications = append(request.Applications, rendering.Application{File: a.File, Content: a.Content})
	}
	input, err := json.Marshal(request)
	if err != nil {
		return err
	}
	answers, problem, err := askKubernetes(ctx, rendering.Argument, input)
	if err != nil {
		return err
	}
	i.take(answers)
	i.Unrendered = problem
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
