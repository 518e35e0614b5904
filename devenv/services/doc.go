// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package services reads the Services of a cluster: which port of an application a user means, and where Services
// answer on this machine, for clusters that give them addresses here.
//
// It is compiled into the program that a first start builds before it shows anything, so it knows of Kubernetes'
// objects only the fields that it reads, and asks by kubeapi. Errors of Choose and Open are for users and end with the
// next step.
package services
