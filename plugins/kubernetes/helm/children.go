// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/child"
)

// childArgument makes a program that calls ServeIfChild render charts, and do nothing else.
const childArgument = "render-charts"

// Limits bound the rendering of one chart; a zero stands for its default.
type Limits struct {
	// MemoryBytes bounds the memory of the process that renders. Default: 512 MiB.
	MemoryBytes uint64
	// OutputBytes bounds what the templates make. Default: 16 MiB.
	OutputBytes uint64
	// Timeout bounds the time. Default: 1 minute.
	Timeout time.Duration
}

const defaultChildOutput = 16 << 20

// Children renders charts in processes of this program's own, which [ServeIfChild] has to serve. A process that needs
// more than the limits ends, and the chart is an error. It may be used by several goroutines; Close ends the processes.
type Children struct {
	outputBytes uint64
	pool        *child.Pool[job, answer]
}

// NewChildren starts nothing yet.
func NewChildren(limits Limits) *Children {
	return &Children{
		outputBytes: cmp.Or(limits.OutputBytes, defaultChildOutput),
		pool: child.New[job, answer](childArgument, child.Limits{MemoryBytes: limits.MemoryBytes,
			Timeout: limits.Timeout}),
	}
}

// Close ends the processes, also those that render.
func (c *Children) Close() { c.pool.Close() }

// ServeIfChild renders charts for the process that has started this one, and does not return then. In every other
// process it does nothing. main calls it first.
func ServeIfChild() {
	child.Serve(childArgument, func(j *job, t *child.Talk) *answer {
		files, err := j.run(t)
		if err != nil {
			return &answer{Error: err.Error()}
		}
		return &answer{Files: files}
	})
}

// engineError is an error of the template engine.
type engineError struct{ text string }

func (e *engineError) Error() string { return e.text }

// render runs a job in a process, whose questions answers has the answers to. The error names the limit that ended it,
// and the template where it was reached.
func (c *Children) render(ctx context.Context, j *job, answers *asker) (map[string]string, error) {
	j.OutputBytes = c.outputBytes
	at := ""
	got, err := c.pool.Do(ctx, j, answers.listen(&at))
	switch limit, ended := (*child.LimitError)(nil), (*child.EndedError)(nil); {
	case err == nil && got.Error != "":
		return nil, &engineError{got.Error}
	case err == nil:
		return got.Files, nil
	case errors.As(err, &limit):
		return nil, &limitError{template: at, of: limit}
	case errors.As(err, &ended):
		return nil, fmt.Errorf("the process that renders its templates ended: %s", ended.Text)
	}
	return nil, err
}

// limitError says in the words of charts which limit a template has reached.
type limitError struct {
	// template is empty where it is not known.
	template string
	of       *child.LimitError
}

func (e *limitError) Error() string {
	who := "its templates"
	if e.template != "" {
		who = e.template + ": this template"
	}
	switch e.of.Limit {
	case child.Time:
		return fmt.Sprintf("%s took longer than %s, the limit for rendering a chart", who, e.of.Timeout)
	case child.Memory:
		return fmt.Sprintf("%s needed more than %d MiB of memory, the limit for rendering a chart", who,
			e.of.MemoryBytes>>20)
	}
	return who + " called templates without an end"
}
