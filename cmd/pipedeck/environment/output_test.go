// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAWarningBeforeTheStartHasATimeInPlainOutput(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 12, 0, 1, 5e6, time.Local)
	require.Equal(t, "12:00:01.005  warning: skipped", outputPlain.line(at, "warning: skipped"))
	require.Equal(t, "warning: skipped", outputReader.line(at, "warning: skipped"))
}
