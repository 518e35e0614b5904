// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALineThatIsNotAMessageIsAnsweredWithAnError(t *testing.T) {
	t.Parallel()
	ping := `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for name, c := range map[string]struct {
		line, says string
		code       int
	}{
		"not JSON":        {"hello", "not JSON: invalid character", -32700},
		"half of a value": {`{"jsonrpc":`, "not JSON: unexpected end", -32700},
		"two values":      {ping + " " + ping, "not JSON", -32700},
		"an empty batch":  {"[]", "batch", -32600},
		"null":            {"null", "not a message", -32600},
		"no version":      {`{"id":1,"method":"ping"}`, "not a message", -32600},
		"a wrong id":      {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "not a message", -32600},
		"a long line":     {strings.Repeat("x", maxMessage+1), "longer than 1 MiB", -32600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, requests := io.Pipe()
			out, toOut := io.Pipe()
			s := newServer(&runner{program: nonexistent, slots: make(chan struct{}, 1)}, false)
			end := make(chan error, 1)
			go func() { end <- s.Run(t.Context(), transport(in, toOut)) }()
			answers := bufio.NewReader(out)
			ask := func(line string) string {
				_, err := io.WriteString(requests, line+"\n")
				require.NoError(t, err)
				answer, err := answers.ReadString('\n')
				require.NoError(t, err)
				return answer
			}
			answer := ask(c.line)
			var refused struct {
				ID    *int
				Error struct {
					Code    int
					Message string
				}
			}
			require.NoError(t, json.Unmarshal([]byte(answer), &refused))
			require.Contains(t, answer, `"id":null`)
			require.Equal(t, c.code, refused.Error.Code)
			require.Contains(t, refused.Error.Message, c.says)
			require.Contains(t, ask("\n"+ping+"\r"), `"id":7`, "the server goes on")
			require.NoError(t, requests.Close())
			require.NoError(t, ended(t.Context(), <-end))
		})
	}
}
