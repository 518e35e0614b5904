// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestTheErrorOfAPreviewIsInPlainWordsAndMasked(t *testing.T) {
	t.Parallel()
	m := &Maker{options: Options{Mask: strings.NewReplacer("hunter2", "***").Replace}}
	err := fmt.Errorf("list the applications: %w", status.Error(codes.Unavailable, "no route for hunter2"))
	require.Equal(t, "list the applications: no route for ***", m.text(err))
}
