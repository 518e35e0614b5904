// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fetch_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
)

func TestADownloadGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("0123456789abcdef", 64<<10)
	for name, changes := range map[string]bool{"the same content": false, "another content": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, false, whole)
			ranges := make(chan string, 8)
			var asked atomic.Int32
			expected := whole
			if changes {
				expected = strings.ToUpper(whole)
			}
			s.set(whole, func(w http.ResponseWriter, r *http.Request) bool {
				ranges <- r.Header.Get("Range")
				if asked.Add(1) > 1 {
					return false
				}
				s.mu.Lock()
				s.content = []byte(expected)
				s.mu.Unlock()
				w.Header().Set("ETag", `"`+digest([]byte(whole))[:8]+`"`)
				w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
				_, _ = w.Write([]byte(whole[:len(whole)/2]))
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			})
			file, err := newFetcher(t.TempDir()).Fetch(
				t.Context(), fetch.Request{Plugin: "p", URL: s.URL, SHA256: digest([]byte(expected))},
			)
			require.NoError(t, err)
			require.Equal(t, expected, content(t, file))
			require.Empty(t, <-ranges)
			require.Regexp(t, `^bytes=[1-9]\d*-$`, <-ranges)
			if changes {
				require.Empty(t, <-ranges, "it begins again")
			}
			require.Empty(t, ranges)
		})
	}
}
