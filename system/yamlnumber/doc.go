// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package yamlnumber knows the numbers of YAML that the library takes for text, because they have no dot before their
// exponent: 1e-3. piped and the plugins read them alike. It fails at nothing.
package yamlnumber
