// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package claims gives PersistentVolumeClaims directories of this machine, as a provisioner of a storage class does.
//
// A claim of the class "standard", which is the default, gets a PersistentVolume once a pod uses it. The volume's
// directory goes with the claim, and a deleted claim stays while a pod uses it. A claim that cannot be bound stays
// pending, and an Event names the reason. What pods get of it is up to package localpods.
package claims
