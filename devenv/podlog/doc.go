// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package podlog follows the logs of the containers of a pod, on clusters that package kubeapi asks.
//
// What is read of a long log is bounded; what follows is not. Its errors are those of the API server.
package podlog
