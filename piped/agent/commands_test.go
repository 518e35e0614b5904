// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestCommandsThatNoPartCarriesOutAreRefused(t *testing.T) {
	t.Parallel()
	for number := range model.Command_Type_name {
		why := refusal(&model.Command{Type: model.Command_Type(number)})
		if model.Command_Type(number) == model.Command_UPDATE_APPLICATION_CONFIG {
			require.Contains(t, why, "edit them in Git")
		} else {
			require.Empty(t, why, model.Command_Type(number))
		}
	}
	require.Contains(t, refusal(&model.Command{Type: 99}), "commands of type 99")
}
