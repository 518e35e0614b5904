// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	scriptName = "script"
	// maxInstructions bounds the work of a script for one object.
	maxInstructions = 1_000_000
	// maxCalls bounds the depth of calls, maxRegistry the values on the stack.
	maxCalls, minRegistry, maxRegistry = 200, 1 << 10, 1 << 16
	// maxRepeated bounds a text that is one text repeated, in bytes, and maxList the places of a list: both take
	// their memory at once, before the process can see it.
	maxRepeated, maxList = 1 << 20, 1 << 16
)

// forbidden are functions that read files, load code, write to the output, or reach into the interpreter.
var forbidden = []string{"dofile", "loadfile", "load", "loadstring", "require", "module", "print",
	"collectgarbage", "newproxy", "_printregs", "getfenv", "setfenv"}

// Names under which a script finds the object and leaves its verdict: those of Argo CD's scripts, and of Plural's.
var (
	objectNames  = []string{"obj", "Obj"}
	verdictNames = []string{"hs", "healthStatus"}
)

// runScript runs a script in this process, which watches its memory.
func runScript(job *scriptJob) *scriptAnswer {
	given, err := interpret(job)
	if err != nil {
		return &scriptAnswer{Error: err.Error()}
	}
	return &scriptAnswer{Given: given}
}

func interpret(job *scriptJob) (given any, err error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true, CallStackSize: maxCalls, RegistrySize: minRegistry,
		RegistryMaxSize: maxRegistry, MinimizeStackMemory: true})
	defer l.Close()
	openLibraries(l)
	object := toLua(l, job.Object)
	for _, name := range objectNames {
		l.SetGlobal(name, object)
	}
	instructions := newInstructions()
	l.SetContext(instructions)
	main, err := l.Load(strings.NewReader(job.Script), scriptName)
	if err != nil {
		return nil, err
	}
	l.Push(main)
	if err := l.PCall(0, 1, nil); err != nil {
		if instructions.left <= 0 {
			return nil, errInstructions
		}
		if failed, is := errors.AsType[*lua.ApiError](err); is {
			return nil, errors.New(failed.Object.String())
		}
		return nil, err
	}
	result := l.Get(-1)
	for _, name := range verdictNames {
		if result == lua.LNil {
			result = l.GetGlobal(name)
		}
	}
	return fromLua(result)
}

// openLibraries gives scripts the functions that compute, and nothing else.
func openLibraries(l *lua.LState) {
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath} {
		l.Push(l.NewFunction(open))
		l.Call(0, 0)
	}
	for _, name := range forbidden {
		l.SetGlobal(name, lua.LNil)
	}
	if text, is := l.GetGlobal(lua.StringLibName).(*lua.LTable); is {
		text.RawSetString("dump", lua.LNil)
		text.RawSetString("rep", l.NewFunction(repeat))
	}
	l.SetGlobal("statusConditionExists", l.NewFunction(func(l *lua.LState) int {
		l.Push(lua.LBool(conditionOf(l) != nil))
		return 1
	}))
	l.SetGlobal("isStatusConditionTrue", l.NewFunction(func(l *lua.LState) int {
		condition := conditionOf(l)
		l.Push(lua.LBool(condition != nil && condition.RawGetString("status").String() == "True"))
		return 1
	}))
}

// repeat is string.rep with a bound.
func repeat(l *lua.LState) int {
	text, times := l.CheckString(1), max(l.CheckInt(2), 0)
	if len(text) > 0 && times > maxRepeated/len(text) {
		l.RaiseError("string.rep makes a text of more than %d bytes", maxRepeated)
	}
	l.Push(lua.LString(strings.Repeat(text, times)))
	return 1
}

// conditionOf finds a condition by its type; the arguments are the status of an object and the type.
func conditionOf(l *lua.LState) (found *lua.LTable) {
	status, name := l.CheckTable(1), l.CheckString(2)
	conditions, is := status.RawGetString("conditions").(*lua.LTable)
	if !is {
		return nil
	}
	conditions.ForEach(func(_, each lua.LValue) {
		if condition, is := each.(*lua.LTable); is && condition.RawGetString("type").String() == name && found == nil {
			found = condition
		}
	})
	return found
}

// toLua turns a value of JSON into one of Lua.
func toLua(l *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := l.CreateTable(0, len(value))
		for key, entry := range value {
			table.RawSetString(key, toLua(l, entry))
		}
		return table
	case []any:
		table := l.CreateTable(len(value), 0)
		for _, entry := range value {
			table.Append(toLua(l, entry))
		}
		return table
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	}
	return lua.LNil
}

// fromLua reads a verdict: a text, the status and the message of a table, or nil.
func fromLua(value lua.LValue) (any, error) {
	switch value := value.(type) {
	case *lua.LNilType:
		return nil, nil
	case lua.LString:
		return string(value), nil
	case *lua.LTable:
		given := map[string]any{}
		for _, key := range []string{"status", "message"} {
			if entry := value.RawGetString(key); entry != lua.LNil {
				given[key] = entry.String()
			}
		}
		return given, nil
	}
	return nil, fmt.Errorf("it gives a %s: want a table with status and message", value.Type())
}

var errInstructions = fmt.Errorf("it ran more than %d instructions", maxInstructions)

// instructions counts what a script does: the interpreter asks for the end of its context before each instruction.
type instructions struct {
	context.Context
	left int
	done chan struct{}
}

func newInstructions() *instructions {
	return &instructions{Context: context.Background(), left: maxInstructions, done: make(chan struct{})}
}

// Done implements [context.Context].
func (i *instructions) Done() <-chan struct{} {
	if i.left--; i.left == 0 {
		close(i.done)
	}
	return i.done
}

// Err implements [context.Context].
func (i *instructions) Err() error {
	if i.left <= 0 {
		return errInstructions
	}
	return nil
}
