// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"testing"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

const (
	readyLine = `time=2026-11-27T04:52:20.795Z level=INFO msg="plugin is ready" plugin=p address="the agent's link"`
	stopLine  = `{"time":"2026-11-27T04:52:20.8Z","level":"INFO","msg":"plugin is stopping","cause":"terminated"}`
)

func TestTheLastLinesOfAProcessAreItsOwn(t *testing.T) {
	t.Parallel()
	o := newOutput("", "p", nil)
	before, after := o.begin(), o.begin()
	write := func(s *stream, text string) {
		_, err := s.Write([]byte(text))
		require.NoError(t, err)
	}
	write(before, "one of the process before\nunfinished")
	write(after, readyLine+"\n")
	write(before, " no more\npanic: of the process before\n"+stopLine+"\n")
	require.Empty(t, after.last(), "and nothing of what each process says of its life")
	crash, _ := after.crash()
	require.Empty(t, crash)
	require.EqualError(t, &ExitError{Plugin: "p", Code: 3, LastOutput: after.last()},
		`plugin "p" exited with code 3 without a message`)
	require.Equal(t, []string{"one of the process before", "unfinished no more", "panic: of the process before"},
		before.last())

	write(after, "half a line")
	require.Equal(t, []string{"half a line"}, after.last())
	require.Equal(t, []string{"one of the process before", readyLine, "unfinished no more",
		"panic: of the process before", stopLine, "half a line"}, o.last())
	s := &agentv1.Plugin{}
	o.status(s)
	require.Len(t, s.GetLastOutput(), 6)
	require.Len(t, s.GetLastOutputAt(), 5)
	after.end()
	require.Equal(t, "half a line", o.last()[5])
	require.Empty(t, o.unfinished)
	for range 3 * keptLines {
		write(after, "more\n")
	}
	require.Len(t, after.last(), keptLines)
}

func TestStacksAtTheEndAreNoLastLines(t *testing.T) {
	t.Parallel()
	s := newOutput("", "p", nil).begin()
	for _, line := range []string{
		"greets Ada", "", "stack of stage a:", "goroutine:", "  main.(*greeter).other /src/other.go:3",
		"end of the stack of stage a", "stack of stage b:", "goroutine:", "  time.Sleep /go/src/time/sleep.go:3",
		"  main.(*greeter).greet /src/greet.go:73", "end of the stack of stage b",
		"SIGQUIT: all goroutines:", "goroutine 1 [running]:", "sync.(*WaitGroup).Wait(0x1)",
		"\tsync/waitgroup.go:238 +0x73",
	} {
		if line == "" {
			s.quit()
			continue
		}
		_, err := s.Write([]byte(line + "\n"))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"greets Ada"}, s.last())
	for stage, place := range map[string]string{"a": "other.go:3", "b": "greet.go:73", "": ""} {
		stack := panicStack{frames: stageFrames(&stage, s.written())}
		require.Equal(t, place, stack.place("example.com/greeter"))
	}
	first := panicStack{frames: stageFrames(nil, s.written())}
	require.Equal(t, "other.go:3", first.place("example.com/greeter"))
	other := panicStack{frames: stageFrames(new(string), stackLines{lines: []string{"SIGQUIT: quit",
		"goroutine 7 [chan receive]:", "main.busy()", "\t/src/busy.go:3 +0x1", "main.(*service).ExecuteStage(0x1)",
		"\t/src/service.go:9"}})}
	require.Equal(t, "busy.go:3", other.place(""), "as the Go runtime of another plugin writes it")
}

func TestARecordIsShownAsItsMessageAndTheFirstLineOfItsError(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"plain words": "plain words",
		`time=2026-11-27T04:52:20Z level=ERROR msg="stage panicked" stage=GREET ` +
			`panic="panic: no such moon at greet.go:31" stack="goroutine 1 [running]:\nmain.main()\n"`: "" +
			"stage panicked: panic: no such moon at greet.go:31",
		`time=2026-11-27T04:52:20Z level=WARN msg=late error="first\nsecond" more="cut of`: "late: first",
		`{"level":"ERROR","msg":"cannot greet","err":"no name","n":1}`:                     "cannot greet: no name",
		`{"level":"ERROR"`: `{"level":"ERROR"`,
		`level=INFO`:       `level=INFO`,
		`time=x`:           `time=x`,
	} {
		require.Equal(t, want, readable(line), line)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(readyLine)
	f.Add(stopLine)
	f.Fuzz(func(t *testing.T, line string) {
		ofLife(line)
		if shown := readable(line); len(shown) > maxShownLine+len("…") {
			t.Fatalf("%d bytes are shown", len(shown))
		}
	})
}
