// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/processtree"
)

func TestOutputKeepsTheBeginningAndTheEnd(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 9, 10, 19, 20, 21, 25, 30, 31, 1000} {
		for _, step := range []int{1, 3, 7, 10, 11, 64, 1000} {
			var all strings.Builder
			for i := range size {
				all.WriteByte(byte('a' + i%26))
			}
			o := processtree.NewOutput(20)
			for rest := all.String(); rest != ""; {
				n := min(step, len(rest))
				written, err := o.Write([]byte(rest[:n]))
				require.NoError(t, err)
				require.Equal(t, n, written)
				rest = rest[n:]
			}
			want := all.String()
			if size > 20 {
				want = fmt.Sprintf("%s\n… %d bytes are left out …\n%s", want[:10], size-20, want[size-10:])
			}
			require.Equal(t, want, o.String(), "%d bytes, %d at a time", size, step)
		}
	}
}
