// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package servicefile reads the file in which an environment keeps the addresses of its Services. The environment
// writes it, and plugins read it whenever they need an address.
package servicefile
