// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

// Validation is the document of pipedeck validate.
type Validation struct {
	Head
	// Checked counts the files that were checked.
	Checked int `json:"checked"`
	// Problems are the mistakes.
	Problems []Mistake `json:"problems"`
}

// Mistake is one mistake in a configuration file.
type Mistake struct {
	// File is the path of the file.
	File string `json:"file"`
	// Line counts from 1; 0 for a whole file.
	Line int `json:"line"`
	// Column counts from 1; 0 for a whole file.
	Column int `json:"column"`
	// Severity is error or warning.
	Severity string `json:"severity" words:"mistake"`
	// Field is the key.
	Field string `json:"field"`
	// Message says what is wrong and what is allowed.
	Message string `json:"message"`
}

// Migrations is the document of pipedeck migrate.
type Migrations struct {
	Head
	// Files are the files that were read.
	Files []Migration `json:"files"`
}

// Migration is what has become of one file.
type Migration struct {
	// File is the path of the file.
	File string `json:"file"`
	// Changed says that the file is not of v1 yet.
	Changed bool `json:"changed"`
	// Written says that the file was changed.
	Written bool `json:"written"`
	// Diff is the change as a unified diff.
	Diff string `json:"diff"`
	// Notes are what a user has to know.
	Notes []MigrationNote `json:"notes"`
	// Error says why it could not be migrated; empty when it could.
	Error string `json:"error"`
}

// MigrationNote is about one line of a file.
type MigrationNote struct {
	// Line is that of the source.
	Line int `json:"line"`
	// Field is the key.
	Field string `json:"field"`
	// Message says what to know.
	Message string `json:"message"`
}

// Encrypted is the document of pipedeck encrypt.
type Encrypted struct {
	Head
	// Name is that of the secret.
	Name string `json:"name"`
	// Ciphertext is the encrypted text.
	Ciphertext string `json:"ciphertext"`
}
