// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

// multiWords is an error of the engine, which knows the names of stages for a single cluster.
type multiWords struct{ error }

func (e multiWords) Unwrap() error { return e.error }

// Error names the stages for many clusters.
func (e multiWords) Error() string {
	text := e.error.Error()
	if strings.Contains(text, "K8S_MULTI_") {
		return text
	}
	return strings.ReplaceAll(text, "K8S_", "K8S_MULTI_")
}

func inMultiWords(err error) error {
	if err == nil {
		return nil
	}
	return multiWords{err}
}
