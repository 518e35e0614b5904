// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestThePlaceOfAPanicIsTheFirstInTheAuthorsCode(t *testing.T) {
	t.Parallel()
	module := "example.com/greeter"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" {
		module = info.Main.Path
	}
	at := func(function, file string, line int) runtime.Frame {
		return runtime.Frame{Function: function, File: file, Line: line}
	}
	sdkFrame := at("github.com/pipedeck/pipedeck/plugins/sdk.(*deploymentService).run", "/sdk/deploymentservice.go", 9)
	for name, c := range map[string]struct {
		frames []runtime.Frame
		want   string
	}{
		"in the program": {[]runtime.Frame{
			at("runtime.mapassign_faststr", "/go/runtime/map.go", 1),
			at("main.(*greeter).ExecuteStage", "/src/stage.go", 31),
			sdkFrame}, "stage.go:31"},
		"below a library": {[]runtime.Frame{
			at("strings.Repeat", "/go/strings/strings.go", 5), at("gopkg.in/yaml%2ev3.decode", "/yaml/decode.go", 7),
			at("main.read", "/src/read.go", 8), sdkFrame}, "read.go:8"},
		"in a library alone": {[]runtime.Frame{
			at("strings.Repeat", "/go/strings/strings.go", 5), at("example.org/lib/deep.Work", "/lib/deep/work.go", 7),
			sdkFrame}, "example.org/lib/deep/work.go:7"},
		"in Go's library alone": {[]runtime.Frame{
			at("strings.Repeat", "/go/strings/strings.go", 5), sdkFrame}, ""},
		"what called our SDK does not count": {[]runtime.Frame{sdkFrame, at("main.main", "/src/main.go", 3)}, ""},
	} {
		require.Equal(t, c.want, placeOf(c.frames), name)
	}
	require.Equal(t, "steps/run.go:4", placeIn(at(module+"/steps.Run", "/src/steps/run.go", 4), module))
}

func TestTheLogOfAPanicHasTheFramesOfTheAuthor(t *testing.T) {
	t.Parallel()
	at := func(function, file string, line int) runtime.Frame {
		return runtime.Frame{Function: function, File: file, Line: line}
	}
	ours := at("github.com/pipedeck/pipedeck/plugins/sdk.(*deploymentService).run", "/sdk/deploymentservice.go", 9)
	require.Equal(t, "\t… 1 of Go, gRPC and the SDK\n"+
		"strings.Repeat\n\t/go/strings.go:5\nmain.greet\n\t/src/stage.go:31\n"+
		"\t… 1 of Go, gRPC and the SDK\nmain.(*greeter).ExecuteStage\n\t/src/stage.go:12\n"+
		"\t… 5 of Go, gRPC and the SDK",
		shownStack([]runtime.Frame{
			at("runtime.mapassign", "/go/map.go", 1), at("strings.Repeat", "/go/strings.go", 5),
			at("main.greet", "/src/stage.go", 31), ours, at("main.(*greeter).ExecuteStage", "/src/stage.go", 12), ours,
			at("runtime/pprof.Do", "/go/pprof/runtime.go", 3),
			at("github.com/pipedeck/pipedeck/api/plugin/deployment._DeploymentService_ExecuteStage_Handler",
				"/api/deployment_grpc.pb.go", 3),
			at("google.golang.org/grpc.(*Server).handleStream", "/grpc/server.go", 3),
			at("runtime.goexit", "/go/asm.s", 1),
		}))
	endless := make([]runtime.Frame, 500)
	for i := range endless {
		endless[i] = at("main.again", "/src/again.go", 1)
	}
	lines := strings.Split(shownStack(endless), "\n")
	require.Len(t, lines, 2*shownFrames+1)
	require.Equal(t, "\t… and more", lines[2*shownFrames])
	func() {
		defer func() {
			text := panicked(recover()).Error()
			require.Contains(t, text, "panic: the moon fell down")
			require.NotContains(t, text, "goroutine ")
		}()
		panic("the moon fell down")
	}()
}

func TestASecondPanicKeepsThePlaceOfTheFirst(t *testing.T) {
	t.Parallel()
	first := func() {
		defer func() { panic(recover()) }()
		put := func(m map[string]string) { m["a"] = "b" }
		put(nil)
	}
	var functions []string
	func() {
		defer func() {
			require.Contains(t, panicText(recover()), "panic: assignment to entry in nil map")
		}()
		defer func() {
			for _, frame := range panicFrames() {
				functions = append(functions, frame.Function)
			}
		}()
		first()
	}()
	require.Contains(t, functions[0]+functions[1], "runtime.mapassign")
}
