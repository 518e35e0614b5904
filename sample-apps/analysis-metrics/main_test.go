// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// answered is what the query API answers.
type answered struct {
	Status, ErrorType, Error string
	Warnings                 []string
	Data                     struct {
		ResultType string
		Result     []struct {
			Metric map[string]string
			Values [][2]any
		}
	}
}

func ask(t *testing.T, s *store, query string, start, end, step any) (int, answered) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/api/v1/query_range?"+url.Values{
		"query": {query}, "start": {fmt.Sprint(start)}, "end": {fmt.Sprint(end)}, "step": {fmt.Sprint(step)},
	}.Encode(), nil)
	w := httptest.NewRecorder()
	s.query(w, r)
	var a answered
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a))
	return w.Code, a
}

func TestTheShareOfErrorsOfTheLastSeconds(t *testing.T) {
	t.Parallel()
	canary := newTarget("canary", "http://a")
	s := newStore([]*target{canary, newTarget("all", "http://b")})
	begin := time.Unix(1_800_000_000, 0)
	s.take(begin)
	for i := range 4 {
		canary.count(begin.Add(time.Duration(i)*time.Second/2), i == 0)
	}
	s.take(begin.Add(2 * time.Second)) // one of four
	s.take(begin.Add(3500 * time.Millisecond))
	s.take(begin.Add(time.Minute)) // none any more

	code, a := ask(t, s, ` error_share{ target="canary" }`, 1_800_000_000, 1_800_000_010, 2)
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "matrix", a.Data.ResultType)
	require.Equal(t, []string{notPrometheus}, a.Warnings, "it says that it is not Prometheus")
	require.Len(t, a.Data.Result, 1)
	require.Equal(t, [][2]any{{1_800_000_002.0, "0.25"}, {1_800_000_004.0, "0"}, {1_800_000_006.0, "0"}},
		a.Data.Result[0].Values, "none before the first answer, and none long after the last")

	_, a = ask(t, s, `error_share{target="all"}`, 1_800_000_000, 1_800_000_010, 2)
	require.Empty(t, a.Data.Result)
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	t.Parallel()
	s := newStore(nil)
	for _, c := range [][4]any{
		{"sum(error_share)", 0, 1, 1}, {"up", 0, 1, 1}, {`error_share{target="a"}`, "now", 1, 1},
		{`error_share{target="a"}`, 0, 1, 0}, {`error_share{target="a"}`, 0, 1e9, 1},
		{`error_share{target="a"}`, 0, "NaN", 1},
	} {
		code, a := ask(t, s, fmt.Sprint(c[0]), c[1], c[2], c[3])
		require.Equal(t, http.StatusBadRequest, code, "%v", c)
		require.Equal(t, "bad_data", a.ErrorType)
		require.NotEmpty(t, a.Error)
	}
}

func TestAnswersOfWhatStandsBeforeThePodsDoNotCount(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(server.Close)
	it := newTarget("a", server.URL)
	for _, code := range []int64{200, 500, 404, 502, 503, 504} {
		status.Store(code)
		it.request(t.Context())
	}
	newTarget("b", "http://127.0.0.1:1").request(t.Context())
	good, bad, share, known := it.counts(time.Now())
	require.True(t, known)
	require.Equal(t, [2]uint64{2, 1}, [2]uint64{good, bad})
	require.InDelta(t, 1.0/3, share, 1e-9)
}

func TestTheProgramSendsRequestsAndAnswersQueries(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // without a Prometheus
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "bad", http.StatusInternalServerError)
	}))
	t.Cleanup(shop.Close)
	targets, err := parseTargets("canary=" + shop.URL + ", all=" + shop.URL)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, listener, targets) }()
	get := func(path string) string {
		resp, err := http.Get("http://" + listener.Addr().String() + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(body)
	}
	require.Eventually(t, func() bool {
		now := time.Now().Unix()
		query := url.Values{"query": {`error_share{target="canary"}`}, "start": {fmt.Sprint(now - 5)},
			"end": {fmt.Sprint(now + 1)}, "step": {"1"}}
		var a answered
		_ = json.Unmarshal([]byte(get("/api/v1/query_range?"+query.Encode())), &a)
		return len(a.Data.Result) == 1 && a.Data.Result[0].Values[0][1] == "1"
	}, time.Minute, 20*time.Millisecond, "the share is known")
	require.Contains(t, get("/metrics"), `error_share{target="all"} 1`)
	stop()
	require.NoError(t, <-ended)
}

func TestTargetsThatCannotBeReached(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"", "a", "=http://b", "a=b", "a=http://b,"} {
		_, err := parseTargets(list)
		require.ErrorContains(t, err, "TARGETS is not a list of NAME=URL: "+list)
	}
}
