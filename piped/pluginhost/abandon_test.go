// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheStackOfAStageIsPickedFromWhatAProcessWroteAtItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ written, want string }{
		"marked by our SDK": {
			"working\nstack of stage other:\n  main.idle\nend of the stack of stage other\nstack of stage s:\n  " +
				"main.busy\n  main.Execute\nend of the stack of stage s\n" +
				"SIGQUIT: all goroutines:\ngoroutine 5 [running]:\nmain.(*service).ExecuteStage(0x1)",
			"  main.busy\n  main.Execute",
		},
		"by the Go runtime of another plugin": {
			"SIGQUIT: quit\nPC=0x4\ngoroutine 1 [select]:\nmain.main()\n\tmain.go:1\ngoroutine 7 [chan receive, 2 " +
				"minutes]:\nmain.busy()\n\tbusy.go:3\nmain.(*service).ExecuteStage(0x1)\n\tservice.go:9",
			"goroutine 7 [chan receive, 2 " +
				"minutes]:\nmain.busy()\n\tbusy.go:3\nmain.(*service).ExecuteStage(0x1)\n\tservice.go:9",
		},
		"none of a plugin in another language": {"Traceback", ""},
		"of bounded length": {
			"stack of stage s:\n" + strings.Repeat("  main.again\n", maxStackLines+7) + "end of the stack of stage s",
			strings.Repeat("  main.again\n", maxStackLines) + "… 7 more lines",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all stackLines
			for line := range strings.SplitSeq(c.written, "\n") {
				all.see(line)
			}
			require.Equal(t, c.want, strings.Join(stackOf("s", all), "\n"))
		})
	}
}

func TestNoMoreOfAStackIsReadThanItsBound(t *testing.T) {
	t.Parallel()
	var all stackLines
	for i := range 2 * maxStackBytes / 1000 {
		all.see(strings.Repeat("x", 990) + fmt.Sprint(i))
	}
	total := 0
	for _, line := range all.lines {
		total += len(line)
	}
	require.LessOrEqual(t, total, maxStackBytes)
	require.Greater(t, total, maxStackBytes/2)
}

func TestStagesOfOneProcessReadTheirStacksAtTheSameTime(t *testing.T) {
	t.Parallel()
	all := stackLines{lines: make([]string, 0, 10)} // with room, as a slice that has grown
	all.see("goroutine 1 [running]:")
	all.see("example.org/plugin.ExecuteStage(")
	var stages sync.WaitGroup
	for range 2 {
		stages.Go(func() { assert.Len(t, stackOf("s", all), 2) })
	}
	stages.Wait()
}
