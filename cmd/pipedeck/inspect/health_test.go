// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestTheHealthOfAnApplicationHasTheWordOfTheUI(t *testing.T) {
	t.Parallel()
	for health, word := range map[deckv1.HealthStatus]string{
		deckv1.HealthStatus_HEALTH_STATUS_HEALTHY: "HEALTHY", deckv1.HealthStatus_HEALTH_STATUS_OTHER: "UNHEALTHY",
		deckv1.HealthStatus_HEALTH_STATUS_UNKNOWN: "UNKNOWN",
	} {
		require.Equal(t, word, healthWord(&deckv1.Application{Health: health}))
	}
}
