// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

func TestObjectsOutlastAnAbsenceInTheOrderOfTheReports(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(t), t.TempDir()
	s := w.open(t, dir)
	put := func(s *opened, key, value string) {
		t.Helper()
		_, err := s.PutApplicationSharedObject(t.Context(),
			&ps.PutApplicationSharedObjectRequest{ApplicationId: "a", PluginName: "p", Key: key, Object: []byte(value)})
		require.NoError(t, err)
	}
	get := func(s *opened, key string) (string, error) {
		answer, err := s.GetApplicationSharedObject(t.Context(),
			&ps.GetApplicationSharedObjectRequest{ApplicationId: "a", PluginName: "p", Key: key})
		return string(answer.GetObject()), err
	}
	put(s, "k", "before")
	w.stop()
	put(s, "k", "first")
	stage(t, s, "between")
	put(s, "k", "second")
	put(s, "other", "x")
	_, err := s.PutLatestAnalysisResult(t.Context(),
		&ps.PutLatestAnalysisResultRequest{ApplicationId: "a", AnalysisResult: &model.AnalysisResult{StartTime: 7}})
	require.NoError(t, err)
	value, err := get(s, "k")
	require.NoError(t, err)
	require.Equal(t, "second", value)

	// The agent dies; the next one knows what waits.
	require.NoError(t, s.Close())
	s = w.open(t, dir)
	value, err = get(s, "k")
	require.NoError(t, err)
	require.Equal(t, "second", value)
	result, err := s.GetLatestAnalysisResult(t.Context(), &ps.GetLatestAnalysisResultRequest{ApplicationId: "a"})
	require.NoError(t, err)
	require.EqualValues(t, 7, result.GetAnalysisResult().GetStartTime())
	_, err = s.GetLatestAnalysisResult(t.Context(), &ps.GetLatestAnalysisResultRequest{ApplicationId: "b"})
	require.Equal(t, codes.Unavailable, status.Code(err), "what is not kept has to be asked for")

	w.back(t)
	run(t, s)
	require.Equal(t, []string{
		"PutApplicationSharedObject k=before", "PutApplicationSharedObject k=first", "ReportStageStatusChanged between",
		"PutApplicationSharedObject k=second", "PutApplicationSharedObject other=x", "PutLatestAnalysisResult",
	}, w.await(t, 6))
	empty(t, s)
	value, err = get(s, "k")
	require.NoError(t, err)
	require.Equal(t, "the control plane's", value)
}
