"""The frozen records that flow between the rooms. No I/O here."""
