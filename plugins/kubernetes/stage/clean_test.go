// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
)

func TestAPruningSaysWhatHasGone(t *testing.T) {
	t.Parallel()
	for text, deleted := range map[string]inventory.Deleted{
		"Pruned 1 resource that is not in Git any more":                           {Gone: 1},
		"Pruned 2 resources that are not in Git any more":                         {Gone: 2},
		"Pruned 2 resources that are not in Git any more; 1 is still Terminating": {Gone: 2, Terminating: 1},
		"1 resource that is not in Git any more is still Terminating":             {Terminating: 1},
		"3 resources that are not in Git any more are still Terminating":          {Terminating: 3},
		"Nothing was pruned: what is not in Git any more is kept":                 {},
	} {
		require.Equal(t, text, prunedText(deleted))
	}
}

func TestARollbackSaysWhatHasGone(t *testing.T) {
	t.Parallel()
	for text, deleted := range map[string]inventory.Deleted{
		"Removed 1 resource that the failed deployment created":                           {Gone: 1},
		"Removed 3 resources that the failed deployment created; 2 are still Terminating": {Gone: 3, Terminating: 2},
		"1 resource that the failed deployment created is still Terminating":              {Terminating: 1},
		"2 resources that the failed deployment created are still Terminating":            {Terminating: 2},
		"": {},
	} {
		require.Equal(t, text, createdText(deleted))
	}
}
