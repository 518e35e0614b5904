// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

func TestNewCommitsQueueAndNothingIsRetriedUnlessTheApplicationSaysSo(t *testing.T) {
	t.Parallel()
	read := func(spec string) (*config.Application, error) {
		return config.ParseApplication([]byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"+
			"  name: web\n"+spec), "app.pipecd.yaml")
	}
	a, err := read("")
	require.NoError(t, err)
	require.Equal(t, "queue", a.Trigger.OnNewCommit)
	require.Nil(t, a.Trigger.Retry)

	a, err = read("  trigger: {onNewCommit: supersede, retry: {}}\n")
	require.NoError(t, err)
	require.Empty(t, a.Warnings)
	require.Equal(t, config.Supersede, a.Trigger.OnNewCommit)
	require.Equal(t, &config.Retry{Limit: 3, Backoff: config.Duration(30 * time.Second)}, a.Trigger.Retry)

	for trigger, says := range map[string]string{
		"onNewCommit: cancel":  `5:26: spec.trigger.onNewCommit: "cancel" is not allowed here`,
		"retry: {limit: 0}":    "spec.trigger.retry.limit: 0 is not allowed here: want more than 0",
		"retry: {limit: 11}":   "5:28: spec.trigger.retry.limit: 11 is not allowed here: want at most 10",
		"retry: {backoff: 0s}": "spec.trigger.retry.backoff: 0s is not allowed here: want more than 0",
		"retry: 3":             "spec.trigger.retry: 3 is not allowed here: want a mapping",
	} {
		_, err = read("  trigger: {" + trigger + "}\n")
		require.ErrorContains(t, err, says, trigger)
	}
}

func TestThePauseBeforeARetryDoublesWithinBounds(t *testing.T) {
	t.Parallel()
	r := config.Retry{Limit: 10, Backoff: config.Duration(20 * time.Minute)}
	for number, want := range map[int]time.Duration{
		1: 20 * time.Minute, 2: 40 * time.Minute, 3: time.Hour, 10: time.Hour,
	} {
		require.Equal(t, want, r.Pause(number), number)
	}
	r.Backoff = config.Duration(3 * time.Hour)
	require.Equal(t, 3*time.Hour, r.Pause(2), "the author may want a longer one")
}
