// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePlaceOfAFatalErrorIsTheFirstInTheAuthorsCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ output, place, first string }{
		"a nil map": {`starting
panic: assignment to entry in nil map

goroutine 7 [running]:
main.(*greeter).work(0xc0000b4000, {0x1, 0x2})
	/src/greeter/stage.go:31 +0x1d
created by main.main in goroutine 1
	/src/greeter/main.go:12 +0x25

goroutine 1 [select]:
main.main()
	/src/greeter/main.go:14 +0x30`, "stage.go:31", "main.(*greeter).work /src/greeter/stage.go:31"},
		"a nil pointer in a package, below a library": {`panic: runtime error: invalid memory address
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x47]

goroutine 1 [running]:
panic({0x1, 0x2})
	/go/src/runtime/panic.go:785 +0x132
gopkg.in/yaml.v3.decode(...)
	/mod/yaml/decode.go:4
example.com/greeter/steps.Run(0x0)
	/src/greeter/steps/run.go:9 +0x1d`, "steps/run.go:9", "gopkg.in/yaml.v3.decode /mod/yaml/decode.go:4"},
		"a library that runs alone": {`fatal error: all goroutines are asleep - deadlock!

goroutine 1 [select (no cases)]:
example.org/lib.Wait()
	/mod/lib/wait.go:9 +0x1d`, "example.org/lib/wait.go:9", "example.org/lib.Wait /mod/lib/wait.go:9"},
		"no stack": {"panic: lost", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var crash crashLines
			for line := range strings.SplitSeq(c.output, "\n") {
				if line != "" { // as the output of a plugin is read
					crash.see(line)
				}
			}
			require.Equal(t, c.place, crash.stack.place("example.com/greeter"))
			shown := append(crash.stack.shown(), "")
			require.Equal(t, c.first, shown[0])
			require.LessOrEqual(t, len(shown)-1, shownFrames)
		})
	}
}

func FuzzThePlaceOfAFatalError(f *testing.F) {
	f.Add("panic: a\ngoroutine 1 [running]:\nmain.f(0x1)\n\t/a/b.go:1 +0x1\n\t\n(\n..\n")
	f.Fuzz(func(t *testing.T, output string) {
		var crash crashLines
		for line := range strings.SplitSeq(output, "\n") {
			crash.see(line)
		}
		crash.stack.place("a/b")
		if len(crash.stack.shown()) > shownFrames || len(crash.stack.frames) > maxFrames {
			t.Fatal("the stack has no bound")
		}
	})
}
