// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package unit has types of options that hold an amount with a unit: [Replicas], such as 3 or "50%", and [Percentage],
// such as 20 or "20%". They decode themselves from JSON, refuse what makes no sense with an error for users, and bring
// their part of a JSON Schema, which package optionschema takes.
package unit
