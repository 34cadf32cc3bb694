# SPDX-License-Identifier: GPL-2.0-or-later
# budget.bash - budgetd and budgetctl in a throwaway cluster
:
