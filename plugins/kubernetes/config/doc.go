// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package config holds what a user may write under `plugins.kubernetes` of an application, in the `with` of its stages
// and in the configuration of a deploy target.
//
// Unknown keys are ignored, as PipeCD v1 ignores them; a key that is known but not supported yet is an error, so that
// nothing is silently left out. Every value is checked before a cluster is touched.
package config
