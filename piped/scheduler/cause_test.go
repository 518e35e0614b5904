// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

func TestOnlyAPlanThatLacksNothingButKeysHasThatCause(t *testing.T) {
	t.Parallel()
	foreign := &config.Error{Message: "cannot be decrypted", ForeignKey: true}
	mistake := &config.Error{Message: "no key"}
	require.Equal(t, "FOREIGN_KEY", causeOf(fmt.Errorf("planning failed: %w", config.Errors{foreign, foreign})))
	require.Empty(t, causeOf(config.Errors{foreign, mistake}), "a mistake is never hidden")
	require.Empty(t, causeOf(config.Errors{mistake}))
	require.Empty(t, causeOf(errors.New("disk full")))
}
