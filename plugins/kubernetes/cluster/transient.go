// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// transientTexts are parts of 500 answers that pass by themselves: the store changes its leader, or a webhook's pods
// are not up yet. Every other 500 is repeated by the API however often it is asked.
var transientTexts = []string{
	"etcdserver:",
	"failed calling webhook",
	"connection refused",
	"context deadline exceeded",
	"the object has been modified",
}

func isTransientInternal(err error) bool {
	if !apierrors.IsInternalError(err) {
		return false
	}
	for _, text := range transientTexts {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}
