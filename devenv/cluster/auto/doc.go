// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package auto is the cluster provider for users who name none: kind when a container engine
// answers, the embedded Kubernetes otherwise, and also when kind fails.
//
// What became ready is recorded in the cluster's directory, so that an environment that is kept
// does not change its kind. Which kind it is and why is part of the line that reports that it is ready.
package auto
