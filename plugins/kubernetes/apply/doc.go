// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package apply brings manifests into a cluster with server-side apply.
//
// It applies them wave after wave, so that what others need comes first (the annotation pipecd.dev/order goes before
// that), and those of one wave side by side. A definition of custom kinds is waited for until its API is served. What
// the user of the kubeconfig may not do holds nothing else up; any other error ends the run with its wave. Only
// requests that may succeed later are repeated. The API's refusals are put into words that name the file, the field and
// the way out.
//
// Applying the same manifests again writes nothing.
package apply
