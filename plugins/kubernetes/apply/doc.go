// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package apply brings manifests into a cluster with server-side apply.
//
// It applies them in the waves and groups of package phase, those of one group side by side. A definition of custom
// kinds is waited for until its API is served. What the user of the kubeconfig may not do holds nothing else of its
// wave up; any other error ends the run with its group. A hook is created again for each
// deployment. Only requests that may succeed later are repeated. The API's refusals are put into words that name the
// file, the field and the way out.
//
// Applying the same manifests again writes nothing. What the cluster still has as this process has last applied it is
// not even sent.
package apply
