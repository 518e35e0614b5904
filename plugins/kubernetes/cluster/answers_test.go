// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// roundTrip plays the server.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestTheAnswersToWritesAreReported(t *testing.T) {
	t.Parallel()
	transport := &answers{next: roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path == "/lost" {
			return nil, errors.New("no answer")
		}
		return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody}, nil
	})}
	var got []int
	ctx := WithAnswers(t.Context(), func(status int) { got = append(got, status) })
	for _, call := range [][2]string{{"PATCH", "/a"}, {"GET", "/a"}, {"POST", "/a?dryRun=All"}, {"POST", "/lost"}} {
		req, err := http.NewRequestWithContext(ctx, call[0], "http://api"+call[1], nil)
		require.NoError(t, err)
		if resp, err := transport.RoundTrip(req); err == nil {
			require.NoError(t, resp.Body.Close())
		}
	}
	require.Equal(t, []int{http.StatusCreated, 0}, got)
}
