// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/child"
)

const (
	// scriptArgument makes a program that calls ServeIfChild run scripts, and do nothing else.
	scriptArgument = "judge-health"
	// maxScriptMemory bounds the memory of the process of a script; the program itself takes a part of it.
	maxScriptMemory = 128 << 20
	// scriptTimeout bounds the time of a script with the start of its process. The bound of instructions ends it
	// earlier, except in a function that searches a text.
	scriptTimeout = 10 * time.Second
)

// scripts run in processes of this program.
type scripts struct {
	pool *child.Pool[scriptJob, scriptAnswer]
}

// scriptJob is a script and the object to judge.
type scriptJob struct {
	Script string
	Object map[string]any
}

// scriptAnswer is what a script has given, or its error.
type scriptAnswer struct {
	Given any
	Error string
}

func newScripts() *scripts {
	return &scripts{pool: child.New[scriptJob, scriptAnswer](scriptArgument,
		child.Limits{MemoryBytes: maxScriptMemory, Timeout: scriptTimeout})}
}

func (s *scripts) close() { s.pool.Close() }

// ServeIfChild runs scripts for the process that has started this one, and does not return then. In every other process
// it does nothing. main calls it first.
func ServeIfChild() {
	child.Serve(scriptArgument, func(job *scriptJob, _ *child.Talk) *scriptAnswer {
		lua.MaxArrayIndex = maxList // the interpreter has this bound once for a process, which does nothing else here
		return runScript(job)
	})
}

// script is one script in Lua.
type script struct {
	text string
	in   *scripts
}

var _ judge = script{}

func (s *scripts) compile(text string) (judge, error) {
	statements, err := parse.Parse(strings.NewReader(text), scriptName)
	if err == nil {
		_, err = lua.Compile(statements, scriptName)
	}
	if err != nil {
		return nil, scriptMistake(err, text)
	}
	return script{text: text, in: s}, nil
}

// scriptMistake gives an error of the parser its place in the text.
func scriptMistake(err error, text string) error {
	wrong, is := errors.AsType[*parse.Error](err)
	switch {
	case is && wrong.Pos.Line == parse.EOF:
		last := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
		return &placedError{line: last, text: "the script ends too early"}
	case is:
		return &placedError{line: wrong.Pos.Line, column: wrong.Pos.Column,
			text: oneLine(fmt.Sprintf("%s near %q", wrong.Message, wrong.Token))}
	}
	if wrong, is := errors.AsType[*lua.CompileError](err); is {
		return &placedError{line: wrong.Line, text: oneLine(wrong.Message)}
	}
	return err
}

func (s script) judge(ctx context.Context, object map[string]any) (any, error) {
	got, err := s.in.pool.Do(ctx, &scriptJob{Script: s.text, Object: object}, nil)
	switch {
	case err != nil:
		return nil, err
	case got.Error != "":
		return nil, errors.New(withLine(got.Error))
	}
	return got.Given, nil
}

// place is the place that the interpreter puts before an error.
var place = regexp.MustCompile(`^` + scriptName + `:(\d+): ?`)

// withLine says the line of an error in words.
func withLine(text string) string {
	found := place.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	line, err := strconv.Atoi(found[1])
	if err != nil {
		return text
	}
	return fmt.Sprintf("line %d: %s", line, strings.TrimPrefix(text, found[0]))
}
