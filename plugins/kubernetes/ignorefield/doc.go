// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package ignorefield reads and applies the rules of spec.driftDetection.ignoreFields: which fields of which objects
// drift detection ignores.
//
// A rule names objects as "apiVersion:kind:namespace:name", and after "#" their fields in one of four forms: a path as
// messages about drift print it, a JSON pointer, a path of jq with select, or "manager=NAME" for every field that a
// field manager has written. The grammar is in docs/live-state.md.
//
// The live state calls it, and so does the validation of configuration files: it imports nothing of Kubernetes. It
// fails when a rule cannot be read, and says where.
package ignorefield
