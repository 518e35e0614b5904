// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// stageLabel is the profiler label of the goroutines of a stage; those that they start inherit it.
const stageLabel = "pipedeck-stage"

// labelled runs f with the label of a stage.
func labelled(stageID string, f func()) {
	pprof.Do(context.Background(), pprof.Labels(stageLabel, stageID), func(context.Context) { f() })
}

// maxDump bounds the stacks that a process writes, in bytes.
const maxDump = 1 << 20

// dumpOnQuit writes the stacks of the running stages, and then of all goroutines, at SIGQUIT, and ends the process with
// code 2. piped sends the signal before it ends a process that goes on with a stage that was stopped, and shows the
// stack in the log of the stage. The Go runtime's own answer leaves out what runs at that moment, such as a busy loop.
func dumpOnQuit(w io.Writer) {
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() { // until the process ends
		<-quit
		writeStacks(w)
		os.Exit(2)
	}()
}

func writeStacks(w io.Writer) {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1)
	for _, stage := range stageStacks(&profile) {
		fmt.Fprintf(w, "stack of stage %s:\n%s\nend of the stack of stage %s\n", stage.id,
			strings.Join(stage.lines, "\n"), stage.id)
	}
	all := make([]byte, maxDump)
	fmt.Fprintf(w, "SIGQUIT: all goroutines:\n%s\n", all[:runtime.Stack(all, true)])
}

// labelledFrame is in the line of the frame that has called the stage.
const labelledFrame = "/sdk.labelled"

type stageStack struct {
	id    string
	lines []string
}

var (
	labelsLine = regexp.MustCompile(`^# labels: .*"` + stageLabel + `":("(?:[^"\\]|\\.)*")`)
	frameLine  = regexp.MustCompile(`^#\t0x[0-9a-f]+\t(\S+?)(?:\+0x[0-9a-f]+)?\s+(\S+)$`)
)

// stageStacks reads the text of a goroutine profile: records of one line with counts and addresses, one with labels and
// one for each frame, with an empty line after each.
func stageStacks(profile io.Reader) []stageStack {
	var stacks []stageStack
	stage := ""
	lines := bufio.NewScanner(profile)
	lines.Buffer(nil, maxDump)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.Contains(line, labelledFrame) {
			stage = "" // what called the stage says nothing
		}
		if labels := labelsLine.FindStringSubmatch(line); labels != nil {
			stage, _ = strconv.Unquote(labels[1])
			i := slices.IndexFunc(stacks, func(s stageStack) bool { return s.id == stage })
			if i < 0 {
				stacks = append(stacks, stageStack{id: stage})
				i = len(stacks) - 1
			}
			stacks[i].lines = append(stacks[i].lines, "goroutine:")
		}
		if frame := frameLine.FindStringSubmatch(line); frame != nil && stage != "" {
			i := slices.IndexFunc(stacks, func(s stageStack) bool { return s.id == stage })
			stacks[i].lines = append(stacks[i].lines, "  "+frame[1]+" "+frame[2])
		}
	}
	return stacks
}
