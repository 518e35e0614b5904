// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package apply brings manifests into a cluster with server-side apply.
//
// It orders them so that what others need comes first (the annotation pipecd.dev/order goes before that), stops at the
// first error, repeats only requests that may succeed later, and puts the API's refusals into words that name the file,
// the field and the way out. Applying the same manifests again changes nothing.
package apply
