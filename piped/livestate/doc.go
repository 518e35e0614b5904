// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package livestate reports to the control plane what runs of each application, and whether that is what was deployed.
//
// It asks the plugins of an application after each of its deployments, whenever a plugin says that something has
// changed, and else now and then. The commit that was deployed last successfully is what the live state is compared
// with; an application that never was deployed is left alone. While a deployment is under way or has failed, and while
// the configuration is invalid, those decide about the sync state, and only the live state is reported.
//
// At most a few applications are examined at the same time, each once at a time. The agent creates one Reporter. An
// examination that fails reports nothing and is repeated.
package livestate
