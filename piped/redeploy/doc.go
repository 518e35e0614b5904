// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package redeploy holds what piped knows about deployments of earlier commits: retries, and rollbacks to a deployment.
//
// The control plane names the commit in the metadata of a command. The trigger notes in the metadata of the deployment
// what it deploys again, and the newest commit of the branch if the deployment goes behind it. The scheduler and the
// live state read there that the application is out of sync with Git however well it runs. PipeCD ignores these notes.
package redeploy
